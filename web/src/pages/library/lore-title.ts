/** What an entry is called in the file that it came from. Our own lore has no titles: they are in its ids and in the card. */

import type { Preset } from "./queries";
import type { Lore } from "./wake";

/** Ids that are made for entries without a title. */
const MADE = /^(lore_[0-9a-f]{32}|lore\.\d+|card\.\d+)$/;

/** The titles of an entry, the one to show first; none for most. */
export type Titles = (entry: Lore) => string[];

export function titlesOf(preset: Pick<Preset, "extensions">): Titles {
  const ofCard = titlesOfCard(preset.extensions);
  return ({ id }) => ofCard.get(id) ?? (MADE.test(id) ? [] : [id.replaceAll("_", " ")]);
}

function titlesOfCard(extensions: unknown): Map<string, string[]> {
  const entries = at(extensions, "card", "data", "character_book", "entries");
  if (!Array.isArray(entries)) return new Map();
  return new Map(
    entries.map((entry: unknown, n) => {
      const id = at(entry, "extensions", "soulgraph", "id");
      const titles = [at(entry, "name"), at(entry, "comment")].filter((one) => typeof one === "string" && one.trim() !== "");
      return [typeof id === "string" ? id : `card.${n}`, titles as string[]];
    }),
  );
}

/** Cards are written by many programs: whatever is not there is undefined. */
function at(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => (typeof inner === "object" && inner !== null ? (inner as Record<string, unknown>)[name] : undefined),
    value,
  );
}
