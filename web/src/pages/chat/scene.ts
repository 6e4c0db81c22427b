/** Who is there: what every row of a conversation has to know. */

import { createContext, useContext, useMemo } from "react";

import { type Access, useAccess } from "~/access";
import type { Schemas } from "~/api/client";
import { isGroup, readerOf, type Session } from "~/pages/chat/sessions";
import { useSouls } from "~/parts/soul-picker";
import { chatWords } from "~/words/chat";
import { useWords } from "~/words/words";

export type Soul = Schemas["SoulOut"];

export interface Scene {
  session: Session;
  soul: Soul;
  access: Access;
  /** Whose eyes it is read with; undefined: everybody's. */
  reader: string | undefined;
  group: boolean;
  soulName: (soulId: string) => string;
  personName: (userId: string) => string;
}

const SceneContext = createContext<Scene | null>(null);
export const SceneProvider = SceneContext.Provider;

export function useScene(): Scene {
  const scene = useContext(SceneContext);
  if (!scene) throw new Error("no conversation around this part");
  return scene;
}

export function useNewScene(soul: Soul, session: Session | undefined): Scene | null {
  const access = useAccess();
  const w = useWords(chatWords);
  const souls = useSouls().data;
  return useMemo(() => {
    if (!session) return null;
    const soulName = (soulId: string) => souls?.find((one) => one.soul_id === soulId)?.name ?? soul.name;
    const personName = (userId: string) => (userId === access.userId || !userId ? w.you : userId);
    return { session, soul, access, reader: readerOf(access), group: isGroup(session), soulName, personName };
  }, [session, soul, souls, w, access.userId, access.isOwner, access.actsForAnybody]);
}
