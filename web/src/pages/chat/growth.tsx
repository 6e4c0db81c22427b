/** Let a conversation change who the soul is, and let it go on in a new one. */

import { Button, Group, Loader, Stack, Text } from "@mantine/core";
import { useIsMutating, useMutation } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Link, useNavigate } from "react-router";

import { api, ask } from "~/api/client";
import { keys, queryClient } from "~/api/queries";
import { closeDialog, type Dialog, useDialog, type Version } from "~/pages/chat/dialog-state";
import { Question } from "~/pages/chat/questions";
import type { Session } from "~/pages/chat/sessions";
import { ProblemNote, showDone, showProblem } from "~/parts/problem";
import { chatWords } from "~/words/chat";
import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";
import c from "./chat.module.css";

/** Whoever closed the dialog meanwhile is told in a corner. */
function isOpen(kind: Dialog["kind"]): boolean {
  return useDialog.getState().open?.kind === kind;
}

function useSeconds(): number {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const clock = setInterval(() => setSeconds((now) => now + 1), 1000);
    return () => clearInterval(clock);
  }, []);
  return seconds;
}

function Working({ text }: { text: string }) {
  const w = useWords(chatWords);
  const seconds = useSeconds();
  return (
    <Group role="status" wrap="nowrap">
      <Loader size="sm" aria-hidden />
      <Text size="sm">
        {text} {seconds > 1 && w.seconds(seconds)}
      </Text>
    </Group>
  );
}

export function MemoryDialog({ session }: { session: Session }) {
  const w = useWords(chatWords);
  const path = { session_id: session.session_id };
  const update = useMutation({
    mutationFn: () => ask(api.POST("/v1/sessions/{session_id}/update-memory", { params: { path } })),
    onSuccess: (version) => {
      if (!isOpen("memory")) showDone(w.newVersion(version.n));
      void queryClient.invalidateQueries({ queryKey: [...keys.session(session.session_id)] });
    },
    onError: (problem) => isOpen("memory") || showProblem(problem),
  });
  if (update.data) return <NewVersion version={update.data} />;
  return (
    <Stack>
      {session.memory_update_reason && <Text size="sm">{session.memory_update_reason}</Text>}
      {update.error && <ProblemNote problem={update.error} />}
      <Question
        text={w.updateMemoryMeaning}
        yes={w.updateMemory}
        color="soul"
        loading={update.isPending}
        onYes={() => update.mutate()}
      />
      {update.isPending && <Working text={w.updating} />}
    </Stack>
  );
}

function NewVersion({ version }: { version: Version }) {
  const w = useWords(chatWords);
  const common = useWords(commonWords);
  const parts = Object.entries(version.dimensions ?? {}).filter(([, words]) => words);
  const nameOf = (part: string) => (w.dimensions as Record<string, string>)[part] ?? part;
  return (
    <Stack data-testid="new-version">
      <Text fw={600}>{w.newVersion(version.n)}</Text>
      {parts.length > 0 ? (
        <dl className={c.dimensions}>
          {parts.map(([part, words]) => (
            <div key={part}>
              <dt>{nameOf(part)}</dt>
              <dd>{String(words)}</dd>
            </div>
          ))}
        </dl>
      ) : (
        <Text size="sm" style={{ whiteSpace: "pre-wrap" }}>
          {version.evolved_persona}
        </Text>
      )}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" component={Link} to="/soul/persona" onClick={closeDialog}>
          {w.allVersions}
        </Button>
        <Button onClick={closeDialog} data-autofocus>
          {common.done}
        </Button>
      </Group>
    </Stack>
  );
}

export function SummariseDialog({ session }: { session: Session }) {
  const w = useWords(chatWords);
  const navigate = useNavigate();
  const path = { session_id: session.session_id };
  const mutationKey = ["summarise", session.session_id];
  // Also if the dialog was closed and opened again meanwhile.
  const isRunning = useIsMutating({ mutationKey }) > 0;
  const summarise = useMutation({
    mutationKey,
    mutationFn: () => ask(api.POST("/v1/sessions/{session_id}/summarize", { params: { path } })),
    onSuccess: (follower) => {
      void queryClient.invalidateQueries({ queryKey: keys.sessions() });
      if (!isOpen("summarise")) return showDone(w.summarisedThere(follower.title || w.untitled));
      closeDialog();
      showDone(w.summarised);
      void navigate(`/chat/${encodeURIComponent(follower.session_id)}`);
    },
    onError: (problem) => isOpen("summarise") || showProblem(problem),
  });
  return (
    <Stack>
      {summarise.error && <ProblemNote problem={summarise.error} />}
      <Question
        text={w.summariseMeaning}
        yes={w.summarise}
        color="soul"
        loading={isRunning}
        onYes={() => queryClient.isMutating({ mutationKey }) || summarise.mutate()}
      />
      {isRunning && <Working text={w.summarising} />}
    </Stack>
  );
}
