/** Messages as memory has them: correct one, say who may know of it, forget it. */

import { useMutation, useQueryClient } from "@tanstack/react-query";

import { api, ask } from "~/api/client";
import { keys } from "~/api/queries";
import { showDone, showProblem } from "~/parts/problem";
import { memoryWords } from "~/words/memory";
import { useWords } from "~/words/words";

import type { Episode } from "./episode-row";
import { useChanger } from "./view";

function useStale() {
  const client = useQueryClient();
  return ({ session_id, soul_id }: Episode) => {
    const stale = [keys.session(session_id), keys.sessions(), keys.soul(soul_id)];
    return Promise.all(stale.map((queryKey) => client.invalidateQueries({ queryKey })));
  };
}

function useParameters() {
  const as = useChanger();
  return ({ session_id, message_id, user_id }: Episode) => ({
    path: { session_id, message_id },
    query: { user_id: as(user_id) },
  });
}

export function useCorrectEpisode(episode: Episode, onDone: () => void) {
  const w = useWords(memoryWords);
  const stale = useStale();
  const params = useParameters()(episode);
  return useMutation({
    mutationFn: (content: string) =>
      ask(api.PATCH("/v1/sessions/{session_id}/messages/{message_id}", { params, body: { content } })),
    onSuccess: async () => {
      await stale(episode);
      showDone(w.corrected);
      onDone();
    },
    onError: showProblem,
  });
}

export function useShareEpisode(episode: Episode, onDone: () => void) {
  const w = useWords(memoryWords);
  const stale = useStale();
  const params = useParameters()(episode);
  return useMutation({
    mutationFn: (shared_with: string[]) =>
      ask(api.PUT("/v1/sessions/{session_id}/messages/{message_id}/sharing", { params, body: { shared_with } })),
    onSuccess: async () => {
      await stale(episode);
      showDone(w.sharedDone);
      onDone();
    },
    onError: showProblem,
  });
}

export function useForgetEpisode() {
  const w = useWords(memoryWords);
  const stale = useStale();
  const params = useParameters();
  return useMutation({
    mutationFn: (episode: Episode) =>
      ask(api.DELETE("/v1/sessions/{session_id}/messages/{message_id}", { params: params(episode) })),
    onSuccess: async (_, episode) => {
      await stale(episode);
      showDone(w.forgotten);
    },
    onError: showProblem,
  });
}
