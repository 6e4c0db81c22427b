/** Facts as their people change them: correct one, delete it. */

import { useMutation, useQueryClient } from "@tanstack/react-query";

import { useAccess } from "~/access";
import { api, ask, type Schemas } from "~/api/client";
import { keys } from "~/api/queries";
import { showDone, showProblem } from "~/parts/problem";
import { factWords } from "~/words/facts";
import { useWords } from "~/words/words";

type Fact = Schemas["FactOut"];

/** Whoever acts for anybody acts for the one whose fact it is. */
export function useFactParameters(soulId: string) {
  const { actsForAnybody, person } = useAccess();
  return ({ fact_id, user_id }: Fact) => ({
    path: { soul_id: soulId, fact_id },
    query: { user_id: actsForAnybody ? user_id : person },
  });
}

export function useCorrectFact(soulId: string, onDone: () => void) {
  const w = useWords(factWords);
  const client = useQueryClient();
  const params = useFactParameters(soulId);
  return useMutation({
    mutationFn: ({ fact, content }: { fact: Fact; content: string }) =>
      ask(api.PATCH("/v1/souls/{soul_id}/facts/{fact_id}", { params: params(fact), body: { content } })),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: keys.soul(soulId) });
      showDone(w.corrected);
      onDone();
    },
    onError: showProblem,
  });
}

export function useDeleteFact(soulId: string) {
  const w = useWords(factWords);
  const client = useQueryClient();
  const params = useFactParameters(soulId);
  return useMutation({
    mutationFn: (fact: Fact) => ask(api.DELETE("/v1/souls/{soul_id}/facts/{fact_id}", { params: params(fact) })),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: keys.soul(soulId) });
      showDone(w.deleted);
    },
    onError: showProblem,
  });
}
