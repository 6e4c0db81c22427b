/** When something was said, as people say it. */

import type { Lang } from "~/words/words";

const LOCALES = { en: "en-GB", zh: "zh-CN" } as const;

export function timeOf(at: number, lang: Lang): string {
  return new Date(at).toLocaleTimeString(LOCALES[lang], { hour: "2-digit", minute: "2-digit" });
}

export function momentOf(at: number, lang: Lang): string {
  return new Date(at).toLocaleString(LOCALES[lang], { dateStyle: "medium", timeStyle: "short" });
}

/** Today, yesterday, or the date; with the year only if it is another one. */
export function dayName(at: number, now: number, lang: Lang, w: { today: string; yesterday: string }): string {
  const day = new Date(at);
  const today = new Date(now);
  if (day.toDateString() === today.toDateString()) return w.today;
  const before = new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1);
  if (day.toDateString() === before.toDateString()) return w.yesterday;
  const year = day.getFullYear() === today.getFullYear() ? undefined : "numeric";
  return day.toLocaleDateString(LOCALES[lang], { weekday: "long", day: "numeric", month: "long", year });
}
