/** Times and sizes as people read them, in their language. */

import { usePreferences } from "~/preferences";

const LOCALES = { en: "en", zh: "zh-CN" } as const;

export function useWhen() {
  const locale = LOCALES[usePreferences((state) => state.lang)];
  return {
    time: (at: string | number) => new Date(at).toLocaleString(locale, withYear(at)),
    day: (at: string | number) => new Date(at).toLocaleDateString(locale, { dateStyle: "medium" }),
    count: (value: number) => value.toLocaleString(locale),
  };
}

/** The year is told only where it is another one. */
function withYear(at: string | number): Intl.DateTimeFormatOptions {
  const isOther = new Date(at).getFullYear() !== new Date().getFullYear();
  return { month: "short", day: "numeric", hour: "numeric", minute: "2-digit", ...(isOther && { year: "numeric" }) };
}

/** 1536 → 1.5 kB */
export function sizeOf(bytes: number): string {
  const units = ["B", "kB", "MB", "GB"];
  const unit = Math.min(units.length - 1, bytes > 0 ? Math.floor(Math.log10(bytes) / 3) : 0);
  const value = bytes / 1000 ** unit;
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}
