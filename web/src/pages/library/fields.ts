/** What can be written into characters and backgrounds, as it stands in their forms. */

import { Problem, type Schemas } from "~/api/client";

export type Character = Schemas["CharacterOut"];
export type Background = Schemas["BackgroundOut"];
export type Kind = "characters" | "backgrounds";

export interface CharacterFields {
  name: string;
  description: string;
  base_persona: string;
  greetings: string[];
  style_examples: string[];
  mbti_type: string | null;
  inner_state: string;
  /** JSON, which may be wrong while it is written. */
  profile: string;
}

export interface BackgroundFields {
  name: string;
  description: string;
  world_rules: string;
  initial_context: string;
}

/** The most characters that the server keeps. */
export const MOST = {
  name: 80,
  description: 4000,
  base_persona: 20_000,
  greetings: 8000,
  style_examples: 8000,
  inner_state: 1200,
  world_rules: 20_000,
  initial_context: 20_000,
} as const;
export const MOST_GREETINGS = 20;
export const MOST_EXAMPLES = 50;

export function characterFields(character: Character): CharacterFields {
  const { name, description, base_persona, greetings, style_examples, mbti_type, inner_state } = character;
  const profile = JSON.stringify(withoutNulls(character.initial_profile), null, 2);
  return { name, description, base_persona, greetings, style_examples, mbti_type: mbti_type ?? null, inner_state, profile };
}

export function backgroundFields({ name, description, world_rules, initial_context }: Background): BackgroundFields {
  return { name, description, world_rules, initial_context };
}

/** What is sent: the fields, and of what the form does not show, that which was read. */
export function characterBody(fields: CharacterFields, base: Character): Schemas["EditedCharacter"] {
  const { profile, greetings, style_examples, ...rest } = fields;
  return {
    ...rest,
    greetings: said(greetings),
    style_examples: said(style_examples),
    initial_profile: JSON.parse(profile.trim() || "{}") as Character["initial_profile"],
    avatar: base.avatar,
    lore: base.lore,
    extensions: base.extensions,
    revision: base.revision,
  };
}

export function backgroundBody(fields: BackgroundFields, base: Background): Schemas["EditedBackground"] {
  return { ...fields, lore: base.lore, extensions: base.extensions, revision: base.revision };
}

/** The client takes a field that can only be null for one that cannot be written at all. */
export const writable = (body: Schemas["EditedCharacter"] | Schemas["NewCharacter"]) => body as never;

const said = (texts: string[]) => texts.filter((text) => text.trim() !== "");

/** Null if it is a JSON object, or empty. */
export function profileMistake(text: string): "json" | "object" | null {
  if (!text.trim()) return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? null : "object";
  } catch {
    return "json";
  }
}

/** The same without fields that say nothing, which the server fills in by itself. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  const said = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(said.map(([name, inner]) => [name, withoutNulls(inner)]));
}

/** What the server objects to, by the field that it is about. */
export function mistakesByField(problem: unknown): Record<string, string> {
  const errors = problem instanceof Problem ? problem.more.errors : undefined;
  const mistakes: Record<string, string> = {};
  for (const { where, message } of Array.isArray(errors) ? (errors as { where: string; message: string }[]) : []) {
    const [, field = "", ...inside] = where.split(".");
    const mistake = inside.length > 0 ? `${inside.join(".")}: ${message}` : message;
    mistakes[field] = mistakes[field] ? `${mistakes[field]}; ${mistake}` : mistake;
  }
  return mistakes;
}

export function isSummary(preset: { extensions: Record<string, unknown> }): boolean {
  return Boolean(preset.extensions.summary_of);
}
