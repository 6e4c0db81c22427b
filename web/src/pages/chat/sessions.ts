/** The conversations of a person with a soul. */

import { useQuery } from "@tanstack/react-query";

import { type Access, useAccess } from "~/access";
import { api, ask, type Schemas } from "~/api/client";
import { keys } from "~/api/queries";

export type Session = Schemas["SessionOut"];

/** How many conversations are read at first, and when more are wanted. */
export const FEW = 100;
export const MANY = 1000;

/** Whose eyes a conversation is read with: an owner sees what everybody has heard. */
export function readerOf(access: Access): string | undefined {
  return access.isOwner ? undefined : access.person;
}

export function useSessions(soulId: string | undefined, limit = FEW) {
  const access = useAccess();
  const query = { soul_id: soulId, user_id: access.person, limit };
  return useQuery({
    queryKey: [...keys.sessions(soulId), access.userId, limit],
    queryFn: () => ask(api.GET("/v1/sessions", { params: { query } })),
    enabled: soulId !== undefined && access.isSomebody,
  });
}

export function useSession(sessionId: string | undefined) {
  const reader = readerOf(useAccess());
  return useQuery({
    queryKey: keys.session(sessionId ?? "", "itself"),
    queryFn: () =>
      ask(
        api.GET("/v1/sessions/{session_id}", {
          params: { path: { session_id: sessionId ?? "" }, query: { user_id: reader } },
        }),
      ),
    enabled: sessionId !== undefined,
  });
}

/** Everybody who takes part, the session's own first. */
export function peopleOf(session: Session): string[] {
  return [session.user_id, ...session.people.filter((person) => person !== session.user_id)];
}

export function soulsOf(session: Session): string[] {
  return [session.soul_id, ...session.souls.filter((soul) => soul !== session.soul_id)];
}

export function isGroup(session: Session): boolean {
  return peopleOf(session).length > 1 || soulsOf(session).length > 1;
}
