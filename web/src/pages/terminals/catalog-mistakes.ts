/** What is wrong with a catalog while it is edited, beside the field; the server has the last word. */

import type { IntentDraft, SlotDraft } from "~/pages/terminals/catalog";

export type MistakeCode =
  | "missing"
  | "twice"
  | "nothingMatches"
  | "valuesAreForText"
  | "minAboveMax"
  | "noBounds"
  | "notANumber"
  | "notATime"
  | "outside";

export interface Mistake {
  /** The key of the intent or slot. */
  of: string;
  field: string;
  code: MistakeCode;
}

export function mistakesIn(drafts: readonly IntentDraft[]): Mistake[] {
  return drafts.flatMap((intent) => [
    ...named(intent, "id", intent.id, drafts.map(({ id }) => id)),
    ...(intent.name.trim() ? [] : [mistake(intent, "name", "missing")]),
    ...(matchesSomething(intent) ? [] : [mistake(intent, "match", "nothingMatches")]),
    ...intent.slots.flatMap((slot) => slotMistakes(slot, intent.slots)),
  ]);
}

function mistake(of: { key: string }, field: string, code: MistakeCode): Mistake {
  return { of: of.key, field, code };
}

function named(of: { key: string }, field: string, name: string, all: string[]): Mistake[] {
  if (!name.trim()) return [mistake(of, field, "missing")];
  return all.filter((other) => other.trim() === name.trim()).length > 1 ? [mistake(of, field, "twice")] : [];
}

function matchesSomething({ match }: IntentDraft): boolean {
  const { keywords_any, keywords_all, regex_any, regex_all, examples } = match;
  return [keywords_any, keywords_all, regex_any, regex_all, examples].some((list) => list.length > 0);
}

function slotMistakes(slot: SlotDraft, all: readonly SlotDraft[]): Mistake[] {
  const { type, min, max } = slot;
  const counted = type === "number" || type === "percent" || type === "duration";
  return [
    ...named(slot, "name", slot.name, all.map(({ name }) => name)),
    ...(slot.values.length > 0 && type !== "text" ? [mistake(slot, "values", "valuesAreForText")] : []),
    ...(!counted && (min != null || max != null) ? [mistake(slot, "min", "noBounds")] : []),
    ...(min != null && max != null && min > max ? [mistake(slot, "min", "minAboveMax")] : []),
    ...defaultMistakes(slot, counted),
  ];
}

function defaultMistakes(slot: SlotDraft, counted: boolean): Mistake[] {
  const { default: value, type, min, max } = slot;
  if (value == null) return [];
  if (counted) {
    if (typeof value !== "number") return [mistake(slot, "default", "notANumber")];
    const lowest = Math.max(min ?? -Infinity, type === "number" ? -Infinity : 0);
    const highest = Math.min(max ?? Infinity, type === "percent" ? 100 : Infinity);
    return value < lowest || value > highest ? [mistake(slot, "default", "outside")] : [];
  }
  const time = type !== "time" || (typeof value === "string" && !Number.isNaN(Date.parse(value)));
  return time ? [] : [mistake(slot, "default", "notATime")];
}
