/** A template while it is being edited: its modules in the order in which the prompt has them. */

import { arrayMove } from "@dnd-kit/sortable";

import type { Schemas } from "~/api/client";

export type Stored = Schemas["TemplateOut"];
export type Body = Schemas["EditedTemplate"];
export type Layer = 2 | 3 | 4 | 5;
export type Kind = "content" | "template";

export interface DraftModule {
  /** For this page alone: a name may change, or be given twice for a while. */
  key: string;
  name: string;
  layer: Layer;
  priority: number;
  enabled: boolean;
  kind: Kind;
  text: string;
  source: Schemas["Module"]["content_source"];
}

export interface Draft {
  name: string;
  voice: Stored["voice"];
  modules: DraftModule[];
}

export const LAYERS: readonly Layer[] = [2, 3, 4, 5];
export const MOST_MODULES = 40;
/** Characters of its own that the layers 2 to 4 may have together. */
export const MOST_OWN_TEXT = 1000;
export const VARIABLE = /\{\{\s*(\w+)\s*\}\}/g;

/** What is always said: where no module says it, the server adds a section for it. */
const REQUIRED: readonly { variable: string; layer: Layer }[] = [
  { variable: "base_persona", layer: 2 },
  { variable: "relation", layer: 3 },
  { variable: "mode", layer: 4 },
];
const STEP = 10;
const HIGHEST = 1000;

let made = 0;
const newKey = () => `module-${++made}`;

export function draftOf(template: Stored): Draft {
  const modules = template.modules.map((module) => ({
    key: newKey(),
    name: module.name,
    layer: module.layer as Layer,
    priority: module.priority,
    enabled: module.enabled,
    kind: (module.template == null ? "content" : "template") as Kind,
    text: module.template ?? module.content ?? "",
    source: module.content_source as DraftModule["source"],
  }));
  return { name: template.name, voice: template.voice, modules: inOrder(modules) };
}

/** As it is saved and previewed. */
export function bodyOf(draft: Draft): Body {
  return {
    name: draft.name,
    voice: draft.voice,
    modules: draft.modules.map(({ name, layer, priority, enabled, kind, text, source }) => ({
      name,
      layer,
      priority,
      enabled,
      [kind]: text,
      ...(source && { content_source: source }),
    })),
  };
}

export function isSame(one: Draft, other: Draft): boolean {
  return JSON.stringify(bodyOf(one)) === JSON.stringify(bodyOf(other));
}

export function changed(draft: Draft, key: string, change: Partial<DraftModule>): Draft {
  const modules = draft.modules.map((module) => (module.key === key ? { ...module, ...change } : module));
  return { ...draft, modules };
}

export function added(draft: Draft, layer: Layer, name: string): { draft: Draft; key: string } {
  const key = newKey();
  const last = draft.modules.filter((module) => module.layer === layer).at(-1);
  const module: DraftModule = {
    key,
    name: freeName(name, draft.modules.map((one) => one.name)),
    layer,
    priority: Math.min(HIGHEST, (last?.priority ?? 0) + STEP),
    enabled: true,
    kind: "template",
    text: "",
    source: undefined,
  };
  return { draft: { ...draft, modules: inOrder([...draft.modules, module]) }, key };
}

export function removed(draft: Draft, key: string): Draft {
  return { ...draft, modules: draft.modules.filter((module) => module.key !== key) };
}

/** The list as it stands on the page: the head of every layer, and below it the modules. */
export function rows(draft: Draft): string[] {
  return LAYERS.flatMap((layer) => [headOf(layer), ...modulesOf(draft, layer).map((module) => module.key)]);
}

export const headOf = (layer: Layer) => `layer-${layer}`;

export function modulesOf(draft: Draft, layer: Layer): DraftModule[] {
  return draft.modules.filter((module) => module.layer === layer);
}

/** A module put in the place of another row; behind the head of a layer it belongs to that layer. */
export function moved(draft: Draft, key: string, over: string): Draft {
  const before = rows(draft);
  const [from, to] = [before.indexOf(key), before.indexOf(over)];
  if (from < 0 || to < 0) return draft;
  return rearranged(draft, arrayMove(before, from, Math.max(1, to)));
}

/** A module one row up or down. */
export function nudged(draft: Draft, key: string, by: 1 | -1): Draft {
  const before = rows(draft);
  const over = before[before.indexOf(key) + by];
  return over === undefined ? draft : moved(draft, key, over);
}

/** A module at the end of another layer. */
export function inLayer(draft: Draft, key: string, layer: Layer): Draft {
  const rest = rows(draft).filter((row) => row !== key);
  const next = LAYERS[LAYERS.indexOf(layer) + 1];
  rest.splice(next ? rest.indexOf(headOf(next)) : rest.length, 0, key);
  return rearranged(draft, rest);
}

/** The priorities are written anew in the layers whose modules have moved, and in no others. */
function rearranged(draft: Draft, order: string[]): Draft {
  const byKey = new Map(draft.modules.map((module) => [module.key, module]));
  const modules: DraftModule[] = [];
  for (const layer of LAYERS) {
    const next = LAYERS[LAYERS.indexOf(layer) + 1];
    const end = next ? order.indexOf(headOf(next)) : order.length;
    const here = order.slice(order.indexOf(headOf(layer)) + 1, end);
    const stays = here.join() === modulesOf(draft, layer).map((module) => module.key).join();
    here.forEach((key, at) => {
      const module = byKey.get(key);
      if (module) modules.push(stays ? module : { ...module, layer, priority: (at + 1) * STEP });
    });
  }
  return { ...draft, modules };
}

export function variablesOf(module: Pick<DraftModule, "kind" | "text">): string[] {
  if (module.kind === "content") return [];
  return [...module.text.matchAll(VARIABLE)].map((match) => match[1] ?? "");
}

/** The sections of a layer that the server adds by itself. */
export function addedByItself(draft: Draft, layer: Layer): string[] {
  const said = new Set(draft.modules.filter((module) => module.enabled).flatMap(variablesOf));
  return REQUIRED.filter((one) => one.layer === layer && !said.has(one.variable)).map((one) => one.variable);
}

/** Characters that the layers 2 to 4 have of their own, without what the variables bring. */
export function ownText(draft: Draft): number {
  return draft.modules
    .filter((module) => module.enabled && module.layer < 5)
    .reduce((sum, module) => sum + [...module.text.replace(VARIABLE, "")].length, 0);
}

export function freeName(wanted: string, taken: string[]): string {
  const names = new Set(taken.map((name) => name.toLowerCase()));
  for (let number = 1; ; number++) {
    const name = number === 1 ? wanted : `${wanted} ${number}`;
    if (!names.has(name.toLowerCase())) return name;
  }
}

function inOrder(modules: DraftModule[]): DraftModule[] {
  return [...modules].sort((one, other) => one.layer - other.layer || one.priority - other.priority);
}
