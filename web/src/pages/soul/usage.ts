/** What model calls cost, added up by day. */

import type { Schemas } from "~/api/client";

export type Row = Schemas["DayOut"];
export type Kind = Row["kind"];

export const KINDS: Kind[] = ["turn", "growth", "archive", "reflect", "life"];

export interface Day {
  day: string;
  tokens: number;
  parts: { kind: Kind; tokens: number }[];
}

export const tokensOf = (row: { input_tokens?: number; output_tokens?: number }) =>
  (row.input_tokens ?? 0) + (row.output_tokens ?? 0);

/** The days in the order they came in, each with its kinds in a fixed order. */
export function byDay(rows: Row[]): Day[] {
  const days = [...new Set(rows.map((row) => row.day))];
  return days.map((day) => {
    const ofDay = rows.filter((row) => row.day === day);
    const parts = KINDS.map((kind) => ({
      kind,
      tokens: ofDay.filter((row) => row.kind === kind).reduce((sum, row) => sum + tokensOf(row), 0),
    })).filter(({ tokens }) => tokens > 0);
    return { day, parts, tokens: parts.reduce((sum, { tokens }) => sum + tokens, 0) };
  });
}
