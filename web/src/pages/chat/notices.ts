/** What the server tells while the page is open. */

import { useEffect, useRef, useState } from "react";

import { keys, queryClient } from "~/api/queries";
import { type Notice, useLive } from "~/live/live";
import type { Scene } from "~/pages/chat/scene";
import { forgetStopped, useTalk } from "~/pages/chat/talk-state";
import { readAgain } from "~/pages/chat/use-transcript";

/** Be told of every notice from now on. */
export function useNotices(told: (notice: Notice) => void): void {
  const latest = useRef(told);
  latest.current = told;
  useEffect(
    () =>
      useLive.subscribe(({ notices }, before) => {
        if (notices === before.notices) return;
        const last = before.notices.at(-1);
        for (const notice of notices.slice(last ? notices.indexOf(last) + 1 : 0)) latest.current(notice);
      }),
    [],
  );
}

/** What is said and changed here by others, or by turns that nobody listens to any more. */
export function useTranscriptNews(scene: Scene): void {
  const sessionId = scene.session.session_id;
  useNotices(({ event, data }) => {
    if (data.session_id !== sessionId) return;
    if (event === "session_changed" && data.reason === "edited") void readAgain(sessionId, scene.reader);
    if (event === "state_changed") void queryClient.invalidateQueries({ queryKey: ["turn", sessionId, data.turn_id] });
    if (event === "done" || event === "error") void ended(sessionId);
  });
}

/** The answer of a turn that was stopped here: now the transcript has it. */
async function ended(sessionId: string): Promise<void> {
  const stopped = useTalk.getState().stopped.filter((turn) => turn.message.session_id === sessionId);
  await queryClient.invalidateQueries({ queryKey: [...keys.session(sessionId)] });
  for (const turn of stopped) forgetStopped(turn.message.input_id);
}

export interface ElsewhereNews {
  sessionId: string;
  event: "state_changed" | "proactive";
}

/** What has happened to this soul in other conversations since this one was opened, each told once. */
export function useElsewhere(soulId: string, sessionId: string | undefined) {
  const [news, setNews] = useState<ElsewhereNews[]>([]);
  useNotices(({ event, data }) => {
    if (event !== "state_changed" && event !== "proactive") return;
    if (data.soul_id !== soulId || data.session_id === sessionId) return;
    const one: ElsewhereNews = { sessionId: String(data.session_id), event };
    setNews((known) => [...known.filter((old) => old.sessionId !== one.sessionId || old.event !== event), one]);
  });
  return { news, dismiss: () => setNews([]) };
}

/** Conversations in which something new was said while another one was open. */
export function useUnread(current: string | undefined): Set<string> {
  const [unread, setUnread] = useState<Set<string>>(new Set());
  useNotices(({ event, data }) => {
    const isNews = event === "proactive" || (event === "session_changed" && data.reason === "turn");
    if (isNews && data.session_id !== current) setUnread((known) => new Set(known).add(String(data.session_id)));
  });
  useEffect(() => {
    if (!current) return;
    setUnread((known) => new Set([...known].filter((sessionId) => sessionId !== current)));
  }, [current]);
  return unread;
}
