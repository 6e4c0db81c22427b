/** What can be done with a message: ask again, say it otherwise, correct, delete, and go on from it elsewhere. */

import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "react-router";

import { api, ask } from "~/api/client";
import { keys, queryClient } from "~/api/queries";
import { say } from "~/live/live";
import { type Scene, useScene } from "~/pages/chat/scene";
import type { Session } from "~/pages/chat/sessions";
import { editMessage } from "~/pages/chat/talk-state";
import type { Message } from "~/pages/chat/transcript";
import { changeKnown } from "~/pages/chat/use-transcript";
import { showDone, showProblem } from "~/parts/problem";
import { chatWords } from "~/words/chat";
import { useWords } from "~/words/words";

/** Messages are their person's, and owners may do everything. */
export function isMine(message: Message, { access }: Scene): boolean {
  return access.actsForAnybody || message.user_id === access.userId;
}

/** Let the soul answer a person's message anew; with other words the message is another one. */
export function replaceMessage(asked: Message, { session, access }: Scene, text?: string): void {
  const again = text ?? (asked.input_id === null ? asked.content : undefined);
  say({
    session_id: session.session_id,
    soul_id: asked.soul_id,
    user_id: access.actsForAnybody ? asked.user_id : undefined,
    replaces: asked.message_id,
    ...(again === undefined ? { input_id: asked.input_id ?? undefined } : { text: again }),
  });
}

export function useCorrect() {
  const { session, reader } = useScene();
  return useMutation({
    mutationFn: ({ message, content }: { message: Message; content: string }) =>
      ask(
        api.PATCH("/v1/sessions/{session_id}/messages/{message_id}", {
          params: {
            path: { session_id: session.session_id, message_id: message.message_id },
            query: { user_id: reader },
          },
          body: { content },
        }),
      ),
    onSuccess: (corrected) => {
      editMessage(corrected.message_id, null);
      changeKnown(session.session_id, reader, (messages) =>
        messages.map((message) => (message.message_id === corrected.message_id ? corrected : message)),
      );
    },
    onError: showProblem,
  });
}

export function useDeleteMessage() {
  const { session, reader } = useScene();
  return useMutation({
    mutationFn: (message: Message) =>
      ask(
        api.DELETE("/v1/sessions/{session_id}/messages/{message_id}", {
          params: {
            path: { session_id: session.session_id, message_id: message.message_id },
            query: { user_id: reader },
          },
        }),
      ),
    onSuccess: (_, deleted) =>
      changeKnown(session.session_id, reader, (messages) =>
        messages.filter((message) => message.message_id !== deleted.message_id),
      ),
    onError: showProblem,
  });
}

/** What the server takes as a title. */
const MOST_OF_TITLE = 200;

/** A new conversation with everything up to a message; without one with everything. */
export function useFork({ session_id: sessionId, title }: Session, reader: string | undefined) {
  const w = useWords(chatWords);
  const navigate = useNavigate();
  return useMutation({
    mutationFn: (message: Message | null) =>
      ask(
        api.POST("/v1/sessions/{session_id}/fork", {
          params: { path: { session_id: sessionId }, query: { user_id: reader } },
          body: { message_id: message?.message_id, title: [...w.forkTitle(title || w.untitled)].slice(0, MOST_OF_TITLE).join("") },
        }),
      ),
    onSuccess: (fork) => {
      showDone(w.forked);
      void queryClient.invalidateQueries({ queryKey: keys.sessions() });
      void navigate(`/chat/${encodeURIComponent(fork.session_id)}`);
    },
    onError: showProblem,
  });
}
