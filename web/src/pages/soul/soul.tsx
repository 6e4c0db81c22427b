/** Everything about one soul: who it is, how it felt, what it lives with, keeps, thinks, and costs. */

import { Center, Loader, Stack, Tabs, Text } from "@mantine/core";
import { type ComponentType, useEffect } from "react";
import { useNavigate, useParams } from "react-router";

import { useAccess } from "~/access";
import type { Schemas } from "~/api/client";
import { listen } from "~/live/live";
import { ProblemNote } from "~/parts/problem";
import { useSoul } from "~/parts/soul-picker";
import { commonWords } from "~/words/common";
import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import { Header } from "./header";
import { Inner } from "./inner";
import { ImportSoul } from "./transfer";
import { Overview } from "./overview";
import { People } from "./people";
import { Persona } from "./persona";
import { Preferences } from "./preferences";
import { ProfilePage } from "./profile-page";
import { Slots } from "./slots";
import css from "./soul.module.css";
import { type TabName, tabOf, tabs } from "./tabs";
import { UsagePage } from "./usage-page";

export interface OfSoul {
  soul: Schemas["SoulOut"];
}

function Memory({ soul }: OfSoul) {
  return (
    <div className={css.columns}>
      <Slots soulId={soul.soul_id} />
      <Preferences soulId={soul.soul_id} />
    </div>
  );
}

const contents: Record<TabName, ComponentType<OfSoul>> = {
  overview: Overview,
  profile: ProfilePage,
  memory: Memory,
  people: People,
  inner: Inner,
  persona: Persona,
  usage: UsagePage,
};

export default function Soul() {
  const w = useWords(commonWords);
  const words = useWords(soulWords);
  const access = useAccess();
  const { soul, isPending, error } = useSoul();
  if (isPending) {
    return (
      <Center p="xl">
        <Loader role="img" aria-label={w.loading} />
      </Center>
    );
  }
  if (error) return <ProblemNote problem={error} />;
  if (!soul) {
    return (
      <Stack className={css.page} align="center">
        <h1 className="visually-hidden">{w.soul}</h1>
        <Text c="dimmed">{words.noSoulYet}</Text>
        {access.isServerOwner && <ImportSoul />}
      </Stack>
    );
  }
  return <Whole soul={soul} key={soul.soul_id} />;
}

function Whole({ soul }: OfSoul) {
  const w = useWords(soulWords);
  const access = useAccess();
  const navigate = useNavigate();
  const tab = tabOf(useParams().tab, access);
  const heard = access.isOwner ? undefined : access.person;
  // The panel of the mood listens too and stops when it goes: with each tab the page begins to listen anew.
  useEffect(() => listen({ soul_id: soul.soul_id, user_id: heard }), [soul.soul_id, heard, tab]);
  const Content = contents[tab];
  return (
    <div className={css.page}>
      <Header soul={soul} />
      <Tabs value={tab} onChange={(name) => void navigate(`/soul/${name}`)} keepMounted={false}>
        <Tabs.List aria-label={w.tabs} mb="sm">
          {tabs
            .filter((one) => one.for(access))
            .map(({ name }) => (
              <Tabs.Tab key={name} value={name}>
                {w.tab[name]}
              </Tabs.Tab>
            ))}
        </Tabs.List>
        <Tabs.Panel value={tab}>
          <Content soul={soul} />
        </Tabs.Panel>
      </Tabs>
    </div>
  );
}
