/** What the caller may do, as `GET /v1/me` says: what is forbidden is not offered. The server enforces it anyway. */

import { useQuery } from "@tanstack/react-query";

import { api, ask } from "~/api/client";
import { keys } from "~/api/queries";
import { usePreferences } from "~/preferences";

export interface Access {
  /** May do everything with its souls. */
  isOwner: boolean;
  /** May do everything with what all souls share: library, templates, keys, jobs, settings. */
  isServerOwner: boolean;
  /** May speak as a device. */
  isTerminal: boolean;
  /** May see what belongs to people: conversations, memory. */
  isSomebody: boolean;
  /** May say for whom it acts. */
  actsForAnybody: boolean;
  /** Whom it speaks as. */
  userId: string;
  /** The same as a parameter of requests: undefined where the key says it. */
  person: string | undefined;
  open: boolean;
  name: string;
}

export function useMe() {
  return useQuery({ queryKey: keys.me, queryFn: () => ask(api.GET("/v1/me")), staleTime: 60_000 });
}

/** Only below the frame of the app, which shows nothing else before it is known. */
export function useAccess(): Access {
  const me = useMe().data;
  const chosen = usePreferences((state) => state.userId);
  const isOwner = me?.scope === "owner";
  const actsForAnybody = isOwner || me?.user_id === "*";
  return {
    isOwner,
    isServerOwner: isOwner && me?.souls === null,
    isTerminal: isOwner || me?.scope === "terminal",
    isSomebody: me?.scope !== "terminal" || me.user_id !== null,
    actsForAnybody,
    userId: actsForAnybody ? chosen : (me?.user_id ?? "default"),
    person: actsForAnybody ? chosen : undefined,
    open: me?.open ?? false,
    name: me?.name ?? "",
  };
}
