/** A profile as it is edited: items of words per field, which the server keeps in order of their priority. */

import type { Schemas } from "~/api/client";

export interface Item {
  [word: string]: unknown;
  priority: number;
  timestamp?: string;
  aged_at?: string;
  user_id?: string;
  shared_with?: string[];
}

export type State = Record<string, { items: Item[] }>;

export interface Retired {
  id: string;
  field: string;
  item: Item;
  retired_at: string;
}

export interface Profile extends Omit<Schemas["ProfileOut"], "dynamic_state" | "retired"> {
  dynamic_state: State;
  retired: Retired[];
}

/** The words that an item of a field has; other fields have whatever their items have. */
export const WORDS: Record<string, string[]> = {
  emotions: ["content"],
  physical_condition: ["content"],
  short_term_goals: ["goal", "reason"],
  relationships: ["entity", "status"],
  learned_patterns: ["pattern"],
};
export const OPTIONAL_WORDS = new Set(["reason"]);
export const LEAST_PRIORITY = 1;
export const MOST_PRIORITY = 10;
/** What falls below it is retired by the next maintenance. */
export const RETIRES_BELOW = 3;

const BOOKKEEPING = new Set(["priority", "timestamp", "aged_at", "user_id", "shared_with"]);

export function wordsOf(item: Item): Record<string, string> {
  const words = Object.entries(item).filter(([key]) => !BOOKKEEPING.has(key));
  return Object.fromEntries(words.map(([key, text]) => [key, String(text)]));
}

/** As the server writes an item in lists. */
export function textOf(item: Item): string {
  return Object.values(wordsOf(item)).join(", ");
}

/** Equal for items whose words and person are equal, of which a field has only one. */
export function idOf(item: Item): string {
  const words = Object.entries(wordsOf(item)).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([item.user_id ?? null, words]);
}

export function fieldsOf(state: State): string[] {
  const built = Object.keys(WORDS);
  return [...built, ...Object.keys(state).filter((field) => !built.includes(field)).sort()];
}

export function wordKeys(field: string, items: Item[]): string[] {
  const first = items[0];
  return WORDS[field] ?? (first ? Object.keys(wordsOf(first)) : ["content"]);
}

/** The order in which the server keeps items: by priority, then the newest first. */
export function ranked(items: Item[]): Item[] {
  return [...items].sort((one, other) => other.priority - one.priority || later(one, other));
}

function later(one: Item, other: Item): number {
  const [a, b] = [one.timestamp ?? "", other.timestamp ?? ""];
  return a === b ? 0 : a < b ? 1 : -1;
}

/** The state with one field's items replaced. */
export function withItems(state: State, field: string, change: (items: Item[]) => Item[]): State {
  return { ...state, [field]: { items: ranked(change(state[field]?.items ?? [])) } };
}
