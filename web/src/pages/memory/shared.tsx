/** What is shared of what people have told, and how it is taken back. */

import { Badge, Group, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { useAccess } from "~/access";
import { api, ask, type Schemas } from "~/api/client";
import { keys } from "~/api/queries";
import { Empty, Read, Section } from "~/pages/soul/section";
import { SharedBadge } from "~/pages/soul/sharing";
import css from "~/pages/soul/soul.module.css";
import { useWhen } from "~/pages/soul/when";
import { ConfirmButton } from "~/parts/confirm";
import { showDone, showProblem } from "~/parts/problem";
import { memoryWords } from "~/words/memory";
import { useWords } from "~/words/words";

import { takeBack } from "./take-back";
import { useChanger, useMayChange, useView } from "./view";
import { VirtualList } from "./virtual-list";

type Thing = Schemas["SharedThing"];

export function Shared({ soulId }: { soulId: string }) {
  const w = useWords(memoryWords);
  const { userId } = useView();
  const params = { path: { soul_id: soulId }, query: { user_id: userId } };
  const shared = useQuery({
    queryKey: keys.soul(soulId, "shared", userId),
    queryFn: () => ask(api.GET("/v1/souls/{soul_id}/shared", { params })),
  });
  return (
    <Section title={w.tab.shared} text={w.sharedText}>
      <Read query={shared}>
        {(things) =>
          things.length === 0 ? (
            <Empty>{w.noShared}</Empty>
          ) : (
            <VirtualList label={w.tab.shared} items={things} keyOf={({ kind, user_id, id }) => `${kind}/${user_id}/${id}`}>
              {(thing) => <SharedRow soulId={soulId} thing={thing} />}
            </VirtualList>
          )
        }
      </Read>
    </Section>
  );
}

function SharedRow({ soulId, thing }: { soulId: string; thing: Thing }) {
  const w = useWords(memoryWords);
  const when = useWhen();
  const { isOwner } = useAccess();
  const mayChange = useMayChange();
  const offered = thing.kind === "profile" ? isOwner : mayChange(thing.user_id);
  return (
    <div className={css.row}>
      <div className={css.grow}>
        <Text size="sm">{thing.text}</Text>
        <Group gap={8}>
          <Badge size="xs" variant="default" tt="none">
            {w.sharedKind[thing.kind]}
          </Badge>
          <Text size="xs" c="dimmed">
            {w.from(thing.user_id)}
            {thing.at && ` · ${when.time(thing.at)}`}
          </Text>
          <SharedBadge people={thing.shared_with} />
        </Group>
      </div>
      {offered && <TakeBack soulId={soulId} thing={thing} />}
    </div>
  );
}

function TakeBack({ soulId, thing }: { soulId: string; thing: Thing }) {
  const w = useWords(memoryWords);
  const client = useQueryClient();
  const as = useChanger();
  const { actsForAnybody } = useAccess();
  const take = useMutation({
    mutationFn: () =>
      takeBack(soulId, thing, { owner: actsForAnybody ? thing.user_id : undefined, changer: as(thing.user_id) }, w.gone),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: keys.soul(soulId) });
      showDone(w.takenBack);
    },
    onError: showProblem,
  });
  return (
    <ConfirmButton
      color="soul"
      size="compact-sm"
      variant="light"
      question={w.takeBackAsk}
      aria-label={w.takeBackNamed(thing.text)}
      loading={take.isPending}
      onConfirm={take.mutate}
    >
      {w.takeBack}
    </ConfirmButton>
  );
}
