/** What stands behind a message: what the turn heard, recalled, decided and cost. */

import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { api, ask, type Schemas } from "~/api/client";
import type { Answer } from "~/live/live";
import type { SpeechRow } from "~/pages/chat/rows";
import { useScene } from "~/pages/chat/scene";

export type TurnDetails = Schemas["TurnOut"];

/** Rows that are only scrolled past are not asked about. */
const PASSING_MS = 300;

/** Greetings, imported messages and what the soul says of its own accord have no turn behind them. */
export function hasTurn(row: SpeechRow): boolean {
  return row.message !== null && !row.message.proactive && row.asked?.input_id != null;
}

/** Something was asked for and could have been done, but the soul does not act now. */
export function wasRefused(answer: Answer): boolean {
  return answer.exec_mode === "blocked" && answer.intents.length > 0 && answer.executed_skills.length === 0;
}

function useStays(): boolean {
  const [stays, setStays] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setStays(true), PASSING_MS);
    return () => clearTimeout(timer);
  }, []);
  return stays;
}

export function useTurnDetails(row: SpeechRow) {
  const { session, reader } = useScene();
  const stays = useStays();
  const path = { session_id: session.session_id, turn_id: row.message?.turn_id ?? "" };
  return useQuery({
    queryKey: ["turn", path.session_id, path.turn_id],
    queryFn: () =>
      ask(api.GET("/v1/sessions/{session_id}/turns/{turn_id}", { params: { path, query: { user_id: reader } } })),
    enabled: hasTurn(row) && stays,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    retryOnMount: false,
  });
}
