/** A soul's profile, and edits of it: each is shown at once and sent with the revision that was read. */

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { useAccess } from "~/access";
import { api, ask, Problem, type Schemas } from "~/api/client";
import { keys } from "~/api/queries";
import { showDone, showProblem } from "~/parts/problem";
import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import type { Profile, State } from "./profile";

function useProfileKey(soulId: string) {
  const { isOwner, person } = useAccess();
  const asked = isOwner ? undefined : person;
  return { key: keys.soul(soulId, "profile", asked), query: { user_id: asked } };
}

/** The API leaves open which words an item has. */
const profileOf = (answer: Schemas["ProfileOut"]) => answer as unknown as Profile;

/** An owner reads all of it, a person what they may know. */
export function useProfile(soulId: string) {
  const { key, query } = useProfileKey(soulId);
  return useQuery({
    queryKey: key,
    queryFn: async () =>
      profileOf(await ask(api.GET("/v1/souls/{soul_id}/profile", { params: { path: { soul_id: soulId }, query } }))),
  });
}

/** Changes are made one after another, each to what the one before has left. */
export function useEditProfile(soulId: string) {
  const w = useWords(soulWords);
  const { key } = useProfileKey(soulId);
  const client = useQueryClient();
  const path = { soul_id: soulId };
  return useMutation({
    scope: { id: `profile-${soulId}` },
    mutationFn: async (_change: (state: State) => State) => {
      const { revision, dynamic_state } = client.getQueryData<Profile>(key)!;
      const body = { revision, dynamic_state } as unknown as Schemas["ProfileEdit"];
      return profileOf(await ask(api.PUT("/v1/souls/{soul_id}/profile", { params: { path }, body })));
    },
    onMutate: async (change) => {
      await client.cancelQueries({ queryKey: key });
      client.setQueryData<Profile>(key, (old) => old && { ...old, dynamic_state: change(old.dynamic_state) });
    },
    onSuccess: (answer) => {
      const isLast = client.isMutating({ predicate: ({ options }) => options.scope?.id === `profile-${soulId}` }) === 1;
      client.setQueryData<Profile>(key, (old) => (old && !isLast ? { ...old, revision: answer.revision } : answer));
    },
    onError: (error) => {
      void client.invalidateQueries({ queryKey: key });
      const changed = error instanceof Problem && error.code === "changed_meanwhile";
      showProblem(changed ? new Problem(error.status, "reloaded", w.reloaded) : error);
    },
  });
}

export function useMaintainProfile(soulId: string) {
  const w = useWords(soulWords);
  const { key } = useProfileKey(soulId);
  const client = useQueryClient();
  const path = { soul_id: soulId };
  const done = (words: string) => (answer: unknown) => {
    client.setQueryData(key, answer);
    showDone(words);
  };
  const maintain = useMutation({
    mutationFn: () => ask(api.POST("/v1/souls/{soul_id}/profile/maintain", { params: { path } })),
    onSuccess: done(w.maintained),
    onError: showProblem,
  });
  const restore = useMutation({
    mutationFn: (id: string) => ask(api.POST("/v1/souls/{soul_id}/profile/restore", { params: { path }, body: { id } })),
    onSuccess: done(w.broughtBack),
    onError: showProblem,
  });
  return { maintain, restore };
}
