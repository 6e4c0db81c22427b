/** Texts that are written and not saved yet. They outlive a change of page, person or soul; leaving the tab is asked for. */

import { useEffect } from "react";
import { create } from "zustand";

export const useDrafts = create<{ texts: Record<string, string> }>(() => ({ texts: {} }));

interface Draft {
  text: string;
  isChanged: boolean;
  write: (text: string) => void;
  discard: () => void;
}

/** A text that begins as what is saved under `key`. */
export function useDraft(key: string, saved: string): Draft {
  const written = useDrafts((state) => state.texts[key]);
  const isChanged = written !== undefined && written !== saved;
  useEffect(() => {
    if (!isChanged) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [isChanged]);
  return {
    text: written ?? saved,
    isChanged,
    write: (text) => useDrafts.setState(({ texts }) => ({ texts: { ...texts, [key]: text } })),
    discard: () => dropDraft(key),
  };
}

export function dropDraft(key: string): void {
  useDrafts.setState(({ texts }) => {
    const { [key]: _, ...others } = texts;
    return { texts: others };
  });
}
