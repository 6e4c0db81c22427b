/** What a soul remembers: what would come to its mind, what was said, what it keeps, learned and may tell. */

import { Center, Group, Loader, Switch, Tabs, Text, Title, Tooltip } from "@mantine/core";
import { type ComponentType, useEffect } from "react";
import { useNavigate, useParams } from "react-router";

import { useAccess } from "~/access";
import { listen } from "~/live/live";
import { PersonPicker } from "~/pages/soul/person";
import { Preferences } from "~/pages/soul/preferences";
import { Slots } from "~/pages/soul/slots";
import css from "~/pages/soul/soul.module.css";
import { ProblemNote } from "~/parts/problem";
import { SoulPicker, useSoul } from "~/parts/soul-picker";
import { commonWords } from "~/words/common";
import { memoryWords } from "~/words/memory";
import { useWords } from "~/words/words";

import { Episodes } from "./episodes";
import { Events } from "./events";
import { Plans } from "./plans";
import { Recall } from "./recall";
import { Shared } from "./shared";
import { type TabName, tabOf, tabs } from "./tabs";
import { Told } from "./told";
import { useEverybody, useView } from "./view";

function Facts({ soulId }: { soulId: string }) {
  return (
    <div className={css.columns}>
      <Slots soulId={soulId} />
      <Preferences soulId={soulId} />
    </div>
  );
}

const contents: Record<TabName, ComponentType<{ soulId: string }>> = {
  recall: Recall,
  episodes: Episodes,
  told: Told,
  facts: Facts,
  plans: Plans,
  events: Events,
  shared: Shared,
};

export default function Memory() {
  const w = useWords(memoryWords);
  const common = useWords(commonWords);
  const { soul, isPending, error } = useSoul();
  const { isSomebody } = useAccess();
  if (!isSomebody) return <Nothing>{common.forbidden}</Nothing>;
  if (isPending) {
    return (
      <Center p="xl">
        <Loader role="img" aria-label={common.loading} />
      </Center>
    );
  }
  if (error) return <ProblemNote problem={error} />;
  if (!soul) return <Nothing>{w.noSoulYet}</Nothing>;
  return <Whole soulId={soul.soul_id} key={soul.soul_id} />;
}

function Nothing({ children }: { children: string }) {
  const w = useWords(commonWords);
  return (
    <div className={css.page}>
      <h1 className="visually-hidden">{w.memory}</h1>
      <Text c="dimmed">{children}</Text>
    </div>
  );
}

function Whole({ soulId }: { soulId: string }) {
  const w = useWords(memoryWords);
  const navigate = useNavigate();
  const tab = tabOf(useParams().tab);
  const { userId } = useView();
  useEffect(() => listen({ soul_id: soulId, user_id: userId }), [soulId, userId]);
  const Content = contents[tab];
  return (
    <div className={css.page}>
      <Header soulId={soulId} withEverybody={tab !== "facts"} />
      <Tabs value={tab} onChange={(name) => void navigate(`/memory/${name}`)} keepMounted={false}>
        <Tabs.List aria-label={w.tabs} mb="sm">
          {tabs.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {w.tab[name]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={tab}>
          <Content soulId={soulId} />
        </Tabs.Panel>
      </Tabs>
    </div>
  );
}

function Header({ soulId, withEverybody }: { soulId: string; withEverybody: boolean }) {
  const w = useWords(memoryWords);
  const common = useWords(commonWords);
  const { isOwner } = useAccess();
  const everybody = useEverybody((state) => state.everybody);
  return (
    <Group justify="space-between" gap="sm">
      <Group gap="md">
        <Title order={1} size="h3">
          {common.memory}
        </Title>
        {isOwner && withEverybody && (
          <Tooltip label={w.everybodyHint}>
            <Switch
              label={w.everybody}
              checked={everybody}
              onChange={(event) => useEverybody.setState({ everybody: event.currentTarget.checked })}
            />
          </Tooltip>
        )}
      </Group>
      <Group gap="xs" className={css.choices}>
        <PersonPicker soulId={soulId} />
        <SoulPicker />
      </Group>
    </Group>
  );
}
