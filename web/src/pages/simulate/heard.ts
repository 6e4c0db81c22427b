/** What the server says it heard (`anger, hostile`), in the words of the page. */

import type { emotionWords } from "~/words/emotions";
import type { simulateWords } from "~/words/simulate";
import type { Lang } from "~/words/words";

type Emotions = (typeof emotionWords)[Lang];
type Words = (typeof simulateWords)[Lang];

export function heardText(heardAs: string, emotions: Emotions, w: Words): string {
  const names: Record<string, string> = { ...emotions, ...w.toTheSoul };
  return heardAs
    .split(", ")
    .map((name) => names[name] ?? name)
    .join(w.comma);
}

/** What a step can be chosen to show. */
export function feelingName(what: string, emotions: Emotions, w: Words): string {
  const names: Record<string, string> = { ...emotions, ...w.meant };
  return names[what] ?? what;
}
