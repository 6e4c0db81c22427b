/** Changes to many entries of a lore at once. */

import { arrayMove } from "@dnd-kit/sortable";

import { newId } from "~/ids";
import type { Titles } from "./lore-title";
import { tokensOf } from "./tokens";
import type { Lore } from "./wake";

export const MOST_ENTRIES = 500;

export function edited(lore: readonly Lore[], chosen: ReadonlySet<string>, change: Partial<Lore>): Lore[] {
  return lore.map((entry) => (chosen.has(entry.id) ? { ...entry, ...change } : entry));
}

export function without(lore: readonly Lore[], chosen: ReadonlySet<string>): Lore[] {
  return lore.filter((entry) => !chosen.has(entry.id));
}

export function reordered(lore: readonly Lore[], id: string, over: string): Lore[] {
  const ids = lore.map((entry) => entry.id);
  const [from, to] = [ids.indexOf(id), ids.indexOf(over)];
  return from < 0 || to < 0 ? [...lore] : arrayMove([...lore], from, to);
}

/** The entry in its place, or at the end. */
export function put(lore: readonly Lore[], entry: Lore): Lore[] {
  const at = lore.findIndex((one) => one.id === entry.id);
  return at < 0 ? [...lore, entry] : lore.with(at, entry);
}

/** Those whose title, keys or content have the words. */
export function matching(lore: readonly Lore[], words: string, titles: Titles): Lore[] {
  const wanted = words.trim().toLowerCase();
  if (!wanted) return [...lore];
  const letters = lettersOf(wanted);
  return lore.filter((entry) => {
    const texts = [...entry.keys, ...entry.secondary_keys, entry.content, entry.id];
    const isSaid = texts.some((text) => text.toLowerCase().includes(wanted));
    return isSaid || (letters !== "" && titles(entry).some((title) => lettersOf(title).includes(letters)));
  });
}

/** A title that became an id has lost everything but its letters and digits. */
function lettersOf(text: string): string {
  return text.toLowerCase().split(/[^\p{L}\p{N}]+/u).join(" ").trim();
}

/** Tokens of all that is on, and of what is told in every prompt. */
export function totals(lore: readonly Lore[]): { all: number; enabled: number; constant: number } {
  const sum = (entries: readonly Lore[]) => entries.reduce((total, entry) => total + tokensOf(entry.content), 0);
  const enabled = lore.filter((entry) => entry.enabled);
  return { all: sum(lore), enabled: sum(enabled), constant: sum(enabled.filter((entry) => entry.constant)) };
}

export function emptyEntry(): Lore {
  return {
    id: newId("lore_"),
    keys: [],
    secondary_keys: [],
    use_regex: false,
    content: "",
    enabled: true,
    priority: 50,
    constant: false,
  };
}
