/** Questions before something is lost, and what a file that was refused has at fault. */

import { Button, Code, Group, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useNavigate, useParams } from "react-router";

import { useAccess } from "~/access";
import { api, ask } from "~/api/client";
import { keys, queryClient } from "~/api/queries";
import { closeDialog } from "~/pages/chat/dialog-state";
import { replaceMessage, useDeleteMessage } from "~/pages/chat/message-actions";
import { type Scene, SceneProvider } from "~/pages/chat/scene";
import { readerOf, type Session } from "~/pages/chat/sessions";
import type { Message } from "~/pages/chat/transcript";
import { showProblem } from "~/parts/problem";
import { chatWords } from "~/words/chat";
import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";

interface QuestionProps {
  text: string;
  yes: string;
  onYes: () => void;
  loading?: boolean;
  color?: string;
}

export function Question({ text, yes, onYes, loading = false, color = "red" }: QuestionProps) {
  const w = useWords(commonWords);
  return (
    <Stack>
      <Text size="sm">{text}</Text>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={closeDialog} data-autofocus>
          {w.cancel}
        </Button>
        <Button color={color} loading={loading} onClick={onYes}>
          {yes}
        </Button>
      </Group>
    </Stack>
  );
}

/** It is left and taken from the lists before it is deleted, so that nobody reads what is no more. */
function useDeleteSession(session: Session) {
  const reader = readerOf(useAccess());
  const navigate = useNavigate();
  const { sessionId: open } = useParams();
  return useMutation({
    mutationFn: async () => {
      const without = (known: Session[] | undefined) => known?.filter((one) => one.session_id !== session.session_id);
      queryClient.setQueriesData<Session[]>({ queryKey: keys.sessions() }, without);
      if (open === session.session_id) await navigate("/chat", { replace: true });
      queryClient.removeQueries({ queryKey: [...keys.session(session.session_id)] });
      const path = { session_id: session.session_id };
      await ask(api.DELETE("/v1/sessions/{session_id}", { params: { path, query: { user_id: reader } } }));
    },
    onError: showProblem,
    onSettled: () => queryClient.invalidateQueries({ queryKey: keys.sessions() }),
  });
}

export function DeleteSession({ session }: { session: Session }) {
  const w = useWords(chatWords);
  const common = useWords(commonWords);
  const remove = useDeleteSession(session);
  const yes = () => {
    closeDialog();
    remove.mutate();
  };
  return <Question text={w.deleteSession(session.title || w.untitled, session.turn)} yes={common.delete} onYes={yes} />;
}

export function DeleteMessage({ message, scene }: { message: Message; scene: Scene }) {
  return (
    <SceneProvider value={scene}>
      <DeleteMessageQuestion message={message} />
    </SceneProvider>
  );
}

function DeleteMessageQuestion({ message }: { message: Message }) {
  const w = useWords(chatWords);
  const common = useWords(commonWords);
  const remove = useDeleteMessage();
  const yes = () => remove.mutate(message, { onSuccess: closeDialog });
  return <Question text={w.deleteMessage} yes={common.delete} loading={remove.isPending} onYes={yes} />;
}

export function Regenerate({ asked, scene }: { asked: Message; scene: Scene }) {
  const w = useWords(chatWords);
  const yes = () => {
    closeDialog();
    replaceMessage(asked, scene);
  };
  return <Question text={w.regenerateQuestion} yes={w.regenerate} onYes={yes} />;
}

export function ImportFailed({ file, line, detail }: { file: string; line: number | null; detail: string }) {
  const w = useWords(chatWords);
  const common = useWords(commonWords);
  return (
    <Stack role="alert">
      <Text size="sm">{line === null ? w.importRefused(file) : w.importRefusedAt(file, line)}</Text>
      <Code block style={{ whiteSpace: "pre-wrap" }}>
        {detail}
      </Code>
      <Group justify="flex-end">
        <Button onClick={closeDialog} data-autofocus>
          {common.close}
        </Button>
      </Group>
    </Stack>
  );
}
