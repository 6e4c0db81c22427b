/** What a person has chosen for this browser: the language, the soul they are with, and as whom they speak. */

import { create } from "zustand";
import { persist } from "zustand/middleware";

import { type Lang, preferredLang } from "~/words/words";

interface Preferences {
  lang: Lang;
  soulId: string | null;
  /** The person an owner speaks as; a key that is somebody always speaks as itself. */
  userId: string;
  setLang: (lang: Lang) => void;
  setSoulId: (soulId: string | null) => void;
  setUserId: (userId: string) => void;
}

export const usePreferences = create<Preferences>()(
  persist(
    (set) => ({
      lang: preferredLang(navigator.languages),
      soulId: null,
      userId: "default",
      setLang: (lang) => set({ lang }),
      setSoulId: (soulId) => set({ soulId }),
      setUserId: (userId) => set({ userId }),
    }),
    { name: "soulgraph.preferences" },
  ),
);
