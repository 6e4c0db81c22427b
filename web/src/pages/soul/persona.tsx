/** What a conversation has made of a soul: every version of its evolved persona. */

import { Alert, Button, Group, Select, Stack, Text, Tooltip } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { useAccess } from "~/access";
import { api, ask, type Schemas } from "~/api/client";
import { keys } from "~/api/queries";
import { showDone, showProblem } from "~/parts/problem";
import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import { EvolutionPlot } from "./evolution";
import { Empty, Read, Section } from "./section";
import { useSessionName } from "./session-name";
import { useSessions } from "./sessions";
import type { OfSoul } from "./soul";
import css from "./soul.module.css";
import { type Version, Versions } from "./versions";

type Session = Schemas["SessionOut"];

export function Persona({ soul }: OfSoul) {
  const w = useWords(soulWords);
  const sessions = useSessions(soul.soul_id);
  const nameOf = useSessionName();
  const [chosen, setChosen] = useState<string | null>(null);
  return (
    <Read query={sessions}>
      {(data) => {
        const session = data.find((one) => one.session_id === chosen) ?? data[0];
        if (!session) return <Empty>{w.noSessions}</Empty>;
        return (
          <Stack gap={14}>
            <Select
              label={w.session}
              data={data.map((one) => ({ value: one.session_id, label: nameOf(one) }))}
              value={session.session_id}
              onChange={setChosen}
              allowDeselect={false}
              searchable
              maw={480}
            />
            <Grown session={session} key={session.session_id} />
          </Stack>
        );
      }}
    </Read>
  );
}

function Grown({ session }: { session: Session }) {
  const w = useWords(soulWords);
  const { person } = useAccess();
  const { base_persona: base } = session.character_snapshot;
  const params = { path: { session_id: session.session_id }, query: { user_id: person } };
  const versions = useQuery({
    queryKey: keys.session(session.session_id, "persona-versions", person),
    queryFn: () => ask(api.GET("/v1/sessions/{session_id}/persona-versions", { params })),
  });
  return (
    <>
      {session.memory_update_suggested && <Alert color="yellow">{w.suggested(session.memory_update_reason)}</Alert>}
      <Section title={w.evolved} actions={<UpdateMemory sessionId={session.session_id} />}>
        <Read query={versions}>{(data) => <Personas session={session} versions={data} />}</Read>
      </Section>
      <EvolutionPlot sessionId={session.session_id} />
      {base && (
        <Section title={w.base}>
          <div className={css.diff}>{base}</div>
        </Section>
      )}
    </>
  );
}

function UpdateMemory({ sessionId }: { sessionId: string }) {
  const w = useWords(soulWords);
  const { isOwner } = useAccess();
  const refresh = useRefresh(sessionId);
  const update = useMutation({
    mutationFn: () =>
      ask(api.POST("/v1/sessions/{session_id}/update-memory", { params: { path: { session_id: sessionId } } })),
    onSuccess: async () => {
      await refresh();
      showDone(w.memoryUpdated);
    },
    onError: showProblem,
  });
  if (!isOwner) return null;
  return (
    <Tooltip label={w.updateHint} multiline w={260}>
      <Button size="xs" variant="light" loading={update.isPending} onClick={() => update.mutate()}>
        🧠 {w.updateMemory}
      </Button>
    </Tooltip>
  );
}

function useRefresh(sessionId: string) {
  const client = useQueryClient();
  return () =>
    Promise.all(
      [keys.session(sessionId), keys.sessions()].map((queryKey) => client.invalidateQueries({ queryKey })),
    );
}

function Personas({ session, versions }: { session: Session; versions: Schemas["VersionOut"][] }) {
  const w = useWords(soulWords);
  const refresh = useRefresh(session.session_id);
  const restore = useMutation({
    mutationFn: (n: number) => {
      const path = { session_id: session.session_id, n };
      return ask(api.POST("/v1/sessions/{session_id}/persona-versions/{n}/restore", { params: { path } }));
    },
    onSuccess: async (_, n) => {
      await refresh();
      showDone(w.restored(n));
    },
    onError: showProblem,
  });
  if (versions.length === 0) return <Empty>{w.notGrown}</Empty>;
  const before: Version = { n: 0, text: "", source: "", created_at: null };
  const texts = versions.map(({ n, evolved_persona: text, source, created_at }) => ({ n, text, source, created_at }));
  return (
    <>
      <Dimensions newest={versions[0]!} />
      <Versions versions={[...texts, before]} none={w.notGrown} onRestore={restore.mutate} restoring={restore.isPending} />
    </>
  );
}

function Dimensions({ newest }: { newest: Schemas["VersionOut"] }) {
  const w = useWords(soulWords);
  const texts = Object.entries(newest.dimensions ?? {}).filter(([, text]) => text);
  if (texts.length === 0) return <Text size="sm" style={{ whiteSpace: "pre-wrap" }}>{newest.evolved_persona}</Text>;
  return (
    <Group gap="md" align="flex-start">
      {texts.map(([name, text]) => (
        <div key={name} style={{ flex: "1 1 200px" }}>
          <Text size="xs" c="dimmed">
            {w.dimension[name] ?? name}
          </Text>
          <Text size="sm">{text}</Text>
        </div>
      ))}
    </Group>
  );
}
