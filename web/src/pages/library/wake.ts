/** Whether a text would wake an entry of the lore, by the rules of the server. */

import type { Schemas } from "~/api/client";

export type Lore = Schemas["Lore"];

/** Why an entry wakes or stays asleep; `unknown` if only the server can tell. */
export type Waking = "off" | "constant" | "woken" | "asleep" | "secondary" | "no-keys" | "unknown";

const HAN = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af";
const IS_HAN = new RegExp(`[${HAN}]`, "u");
/** A letter, digit or underscore of a script that puts spaces between words. */
const LETTER = `(?![${HAN}])[\\p{L}\\p{N}_]`;

export function wakes(entry: Pick<Lore, "keys" | "secondary_keys" | "use_regex" | "enabled" | "constant">, text: string): Waking {
  if (!entry.enabled) return "off";
  if (entry.constant) return "constant";
  if (entry.keys.length === 0) return "no-keys";
  if (entry.use_regex) return "unknown";
  if (!entry.keys.some((key) => says(text, key))) return "asleep";
  const secondary = entry.secondary_keys;
  return secondary.length === 0 || secondary.some((key) => says(text, key)) ? "woken" : "secondary";
}

/** Chinese anywhere, other scripts as whole words, also between Chinese ones; without regard to case. */
export function says(text: string, key: string): boolean {
  const [said, wanted] = [text.toLowerCase(), key.toLowerCase()];
  if (!said.includes(wanted)) return false;
  if (IS_HAN.test(wanted)) return true;
  return new RegExp(`(?<!${LETTER})${escaped(wanted)}(?!${LETTER})`, "u").test(said);
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
