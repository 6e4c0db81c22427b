import { useAccess } from "~/access";
import type { Schemas } from "~/api/client";
import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import { useWhen } from "./when";

/** What a conversation is called in a list: its title, or when it was; and whose it is if it is not one's own. */
export function useSessionName(): (session: Schemas["SessionOut"]) => string {
  const w = useWords(soulWords);
  const when = useWhen();
  const { userId } = useAccess();
  return ({ title, turn, user_id, updated_at }) => {
    const name = title || w.untitled(when.time(updated_at));
    return w.sessionName(user_id === userId ? name : `${user_id}: ${name}`, turn);
  };
}
