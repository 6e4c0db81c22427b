/** A catalog of intents as a form and as JSON, and what is wrong with it before the server says so. */

import type { Schemas } from "~/api/client";

export type Intent = Schemas["Intent"];
export type Slot = Schemas["Slot"];
export type SlotType = Slot["type"];

export const SLOT_TYPES: readonly SlotType[] = ["text", "number", "percent", "duration", "time"];

/** A slot and an intent while they are edited: ids change as they are typed, keys do not. */
export type SlotDraft = Slot & { key: string };
export type IntentDraft = Omit<Intent, "slots"> & { key: string; slots: SlotDraft[] };

export const MATCH_LISTS = [
  "keywords_any",
  "keywords_all",
  "negative_keywords",
  "examples",
  "regex_any",
  "regex_all",
] as const;
export type MatchList = (typeof MATCH_LISTS)[number];

/** Where JSON is no catalog: a path such as `[2].match.keywords_any`, and what belongs there. */
export class NoCatalog extends Error {
  constructor(
    readonly path: string,
    readonly expected: "json" | "list" | "object" | "text" | "texts" | "number" | "type" | "boolean",
    readonly detail = "",
  ) {
    super(`${path}: ${expected}`);
  }
}

let made = 0;
const newKey = () => `draft-${made++}`;

type Json = Record<string, unknown>;

export function draftsOf(catalog: unknown): IntentDraft[] {
  if (!Array.isArray(catalog)) throw new NoCatalog("", "list");
  return catalog.map((intent, n) => intentOf(objectAt(intent, `[${n}]`), `[${n}]`));
}

function intentOf(intent: Json, path: string): IntentDraft {
  const match = objectAt(intent.match ?? {}, `${path}.match`);
  const lists = Object.fromEntries(MATCH_LISTS.map((name) => [name, textsAt(match[name], `${path}.match.${name}`)]));
  const slots = intent.slots ?? [];
  if (!Array.isArray(slots)) throw new NoCatalog(`${path}.slots`, "list");
  return {
    key: newKey(),
    id: textAt(intent.id, `${path}.id`),
    name: textAt(intent.name, `${path}.name`),
    priority: numberAt(intent.priority ?? 0, `${path}.priority`),
    match: {
      ...(lists as Record<MatchList, string[]>),
      min_confidence: numberAt(match.min_confidence ?? 0.5, `${path}.match.min_confidence`),
    },
    slots: slots.map((slot, n) => slotOf(objectAt(slot, `${path}.slots[${n}]`), `${path}.slots[${n}]`)),
  };
}

function slotOf(slot: Json, path: string): SlotDraft {
  const type = slot.type ?? "text";
  if (!SLOT_TYPES.includes(type as SlotType)) throw new NoCatalog(`${path}.type`, "type");
  if (typeof (slot.required ?? false) !== "boolean") throw new NoCatalog(`${path}.required`, "boolean");
  return {
    key: newKey(),
    name: textAt(slot.name, `${path}.name`),
    type: type as SlotType,
    required: slot.required === true,
    regex: slot.regex == null ? null : textAt(slot.regex, `${path}.regex`),
    values: textsAt(slot.values, `${path}.values`),
    min: slot.min == null ? null : numberAt(slot.min, `${path}.min`),
    max: slot.max == null ? null : numberAt(slot.max, `${path}.max`),
    default: (slot.default ?? null) as Slot["default"],
    question: slot.question == null ? null : textAt(slot.question, `${path}.question`),
  };
}

function objectAt(value: unknown, path: string): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new NoCatalog(path, "object");
  return value as Json;
}

function textAt(value: unknown, path: string): string {
  if (typeof value !== "string") throw new NoCatalog(path, "text");
  return value;
}

function numberAt(value: unknown, path: string): number {
  if (typeof value !== "number") throw new NoCatalog(path, "number");
  return value;
}

function textsAt(value: unknown, path: string): string[] {
  if (value == null) return [];
  if (!Array.isArray(value) || value.some((one) => typeof one !== "string")) throw new NoCatalog(path, "texts");
  return value as string[];
}

/** As it is sent; what is empty is left out, so that it reads as it was written. */
export function catalogOf(drafts: readonly IntentDraft[]): Intent[] {
  return drafts.map(({ key: _, ...intent }) => ({ ...intent, slots: intent.slots.map(sentSlot) }));
}

function sentSlot({ key: _, ...slot }: SlotDraft): Slot {
  const kept = Object.entries(slot).filter(([, value]) => value !== null && value !== "");
  return Object.fromEntries(kept) as Slot;
}

/** As people read it: without what is left out anyway. */
export function textOf(drafts: readonly IntentDraft[]): string {
  const short = catalogOf(drafts).map((intent) => ({
    ...withoutEmpty(intent),
    match: withoutEmpty(intent.match),
    ...(intent.slots.length > 0 && { slots: intent.slots.map(withoutEmpty) }),
  }));
  return JSON.stringify(short, null, 2);
}

function withoutEmpty(value: object): Json {
  const kept = Object.entries(value).filter(
    ([name, one]) =>
      !(Array.isArray(one) && one.length === 0) &&
      !(name === "required" && one === false) &&
      !(name === "priority" && one === 0) &&
      !(name === "type" && one === "text") &&
      !(name === "min_confidence" && one === 0.5),
  );
  return Object.fromEntries(kept);
}

/** The drafts of a text; NoCatalog says where it is none. */
export function draftsIn(text: string): IntentDraft[] {
  let catalog: unknown;
  try {
    catalog = JSON.parse(text);
  } catch (error) {
    throw new NoCatalog("", "json", error instanceof Error ? error.message : "");
  }
  return draftsOf(catalog);
}

export function sameCatalog(one: readonly IntentDraft[], other: readonly IntentDraft[]): boolean {
  return JSON.stringify(catalogOf(one)) === JSON.stringify(catalogOf(other));
}

export function newIntent(drafts: readonly IntentDraft[]): IntentDraft {
  const taken = new Set(drafts.map(({ id }) => id));
  let n = drafts.length + 1;
  while (taken.has(`intent_${n}`)) n += 1;
  return { ...intentOf({ id: `intent_${n}`, name: "", match: {} }, ""), key: newKey() };
}

export function newSlot(): SlotDraft {
  return slotOf({ name: "" }, "");
}

/** What a person has typed as the default of a slot. */
export function defaultOf(type: SlotType, typed: string): Slot["default"] {
  if (typed === "") return null;
  const counted = type === "number" || type === "percent" || type === "duration";
  return counted && Number.isFinite(Number(typed)) ? Number(typed) : typed;
}

/** The single words of what was typed: a comma ends one, also where the field did not see it being typed. */
export function wordsIn(typed: readonly string[]): string[] {
  const parts = typed.flatMap((text) => text.split(/[,，]/)).map((word) => word.trim());
  return [...new Set(parts.filter((word) => word !== ""))];
}

export function moved<Item>(items: readonly Item[], from: number, to: number): Item[] {
  const rest = items.filter((_, n) => n !== from);
  const item = items[from];
  if (item === undefined || to < 0 || to >= items.length) return [...items];
  return [...rest.slice(0, to), item, ...rest.slice(to)];
}
