/** The words of the studio in both languages. A word that one of them lacks fails the type check. */

import { usePreferences } from "~/preferences";

export type Lang = "en" | "zh";

/** The same keys with texts of their own: what the second language has to have. */
type Same<T> = {
  [Key in keyof T]: T[Key] extends string
    ? string
    : T[Key] extends (...args: infer Args) => string
      ? (...args: Args) => string
      : Same<T[Key]>;
};

export function words<T extends object>(en: T, zh: Same<T>): Record<Lang, Same<T>> {
  return { en: en as unknown as Same<T>, zh };
}

/** The words in the language of the person. */
export function useWords<T>(of: Record<Lang, T>): T {
  return of[usePreferences((state) => state.lang)];
}

/** The language that a browser asks for; English if it is neither. */
export function preferredLang(languages: readonly string[]): Lang {
  for (const language of languages) {
    if (language.toLowerCase().startsWith("zh")) return "zh";
    if (language.toLowerCase().startsWith("en")) return "en";
  }
  return "en";
}
