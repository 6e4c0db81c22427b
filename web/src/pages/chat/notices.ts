/** What the server tells while the page is open. */

import { useEffect, useRef, useState } from "react";

import { keys, queryClient } from "~/api/queries";
import { type Notice, useLive } from "~/live/live";
import { explained, feel, isTurned, UNKNOWN_MOOD } from "~/pages/chat/mood-watch";
import type { Scene } from "~/pages/chat/scene";
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

/** What is said and changed here by others, or by turns that this page has dropped. */
export function useTranscriptNews(scene: Scene): void {
  const sessionId = scene.session.session_id;
  useNotices(({ event, data }) => {
    if (data.session_id !== sessionId) return;
    if (event === "session_changed" && data.reason === "edited") void readAgain(sessionId, scene.reader);
    if (event === "state_changed") void queryClient.invalidateQueries({ queryKey: ["turn", sessionId, data.turn_id] });
    if (event === "done") void queryClient.invalidateQueries({ queryKey: [...keys.session(sessionId)] });
  });
}

export interface ElsewhereNews {
  /** Null if nobody says where it was: others' conversations are theirs. */
  sessionId: string | null;
  event: "state_changed" | "proactive" | "mood";
}

/** What has happened to this soul in other conversations since this one was opened, each told once. */
export function useElsewhere(soulId: string, sessionId: string | undefined) {
  const [news, setNews] = useState<ElsewhereNews[]>([]);
  const add = (one: ElsewhereNews) =>
    setNews((known) => [...known.filter((old) => old.sessionId !== one.sessionId || old.event !== one.event), one]);
  useTurnedMood(soulId, sessionId, (where) => add({ sessionId: where, event: "mood" }));
  useNotices(({ event, data }) => {
    if (event !== "state_changed" && event !== "proactive") return;
    if (data.soul_id !== soulId || data.session_id === sessionId) return;
    add({ sessionId: String(data.session_id), event });
  });
  return { news, dismiss: () => setNews([]) };
}

/** Be told when another conversation has turned the mood of this soul, and which one if that is known. */
function useTurnedMood(soulId: string, sessionId: string | undefined, turned: (sessionId: string | null) => void): void {
  const watch = useRef(UNKNOWN_MOOD);
  const tell = useRef(turned);
  tell.current = turned;
  useEffect(() => {
    watch.current = UNKNOWN_MOOD;
    const moved = ({ emotions, turns }: ReturnType<typeof useLive.getState>) => {
      const emotion = emotions[soulId];
      if (!emotion) return;
      const own = Object.values(turns).some(({ message, phase }) => message.soul_id === soulId && phase !== "failed");
      const after = feel(watch.current, { ...emotion.soul_emotion, at: Date.parse(emotion.at) }, own);
      watch.current = after.watch;
      if (after.unexplained) tell.current(null);
    };
    moved(useLive.getState());
    return useLive.subscribe((now, before) => {
      if (now.emotions[soulId] !== before.emotions[soulId]) moved(now);
    });
  }, [soulId]);
  useNotices(({ event, data }) => {
    if (event !== "session_changed" || data.soul_id !== soulId || !data.turn_id) return;
    const wasTurned = isTurned(watch.current);
    watch.current = explained(watch.current);
    if (wasTurned && data.session_id !== sessionId) turned(String(data.session_id));
  });
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
