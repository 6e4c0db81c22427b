/** Whose memory is shown: that of the chosen person, or for an owner also everybody's. */

import { useQuery } from "@tanstack/react-query";
import { create } from "zustand";

import { useAccess } from "~/access";
import { api, ask, type Schemas } from "~/api/client";
import { keys } from "~/api/queries";

export const useEverybody = create<{ everybody: boolean }>(() => ({ everybody: false }));

export interface View {
  /** As a parameter of requests. */
  userId: string | undefined;
  everybody: boolean;
}

export function useView(): View {
  const { isOwner, person } = useAccess();
  const everybody = useEverybody((state) => state.everybody) && isOwner;
  return { everybody, userId: everybody ? undefined : person };
}

/** The conversations that this view is about, the newest first. */
export function useConversations(soulId: string) {
  const { userId } = useView();
  const query = { soul_id: soulId, user_id: userId, limit: 1000 };
  return useQuery({
    queryKey: [...keys.sessions(soulId), "of", userId],
    queryFn: () => ask(api.GET("/v1/sessions", { params: { query } })),
  });
}

/** Who may change what somebody said, or who may know of it: they themselves, and owners. */
export function useMayChange(): (owner: string) => boolean {
  const { actsForAnybody, userId } = useAccess();
  return (owner) => actsForAnybody || owner === userId;
}

/** As whom a change is asked for: an owner may change everybody's, a key for everybody names whose it is. */
export function useChanger(): (owner: string) => string | undefined {
  const { isOwner, actsForAnybody } = useAccess();
  return (owner) => (!isOwner && actsForAnybody ? owner : undefined);
}

export type Session = Schemas["SessionOut"];
