/** What two people have made of the same template, module by module. */

import { type Draft, type DraftModule, type Layer, LAYERS, modulesOf } from "./draft";

export type Field = "name" | "voice" | "module" | "layer" | "enabled" | "kind" | "text" | "order";

export interface Difference {
  field: Field;
  /** The module that it is about, or the number of the layer; empty for the template as a whole. */
  of: string;
  /** Null where there is no such module. */
  mine: string | null;
  theirs: string | null;
  by: "me" | "them" | "both";
}

const FIELDS = ["layer", "enabled", "kind", "text"] as const;

/** `base` is what both began with: it tells who has changed something. */
export function differences(base: Draft, mine: Draft, theirs: Draft): Difference[] {
  const found: Difference[] = [];
  const compare = (field: Field, of: string, valueOf: (draft: Draft) => string | null) => {
    const [was, here, there] = [valueOf(base), valueOf(mine), valueOf(theirs)];
    if (here === there) return;
    found.push({ field, of, mine: here, theirs: there, by: here === was ? "them" : there === was ? "me" : "both" });
  };
  compare("name", "", (draft) => draft.name);
  compare("voice", "", (draft) => draft.voice);
  for (const name of new Set([...mine.modules, ...theirs.modules].map((module) => module.name))) {
    if (called(mine, name) && called(theirs, name)) {
      for (const field of FIELDS) compare(field, name, (draft) => valueOf(called(draft, name), field));
    } else compare("module", name, (draft) => valueOf(called(draft, name), "text"));
  }
  for (const layer of LAYERS) {
    const both = new Set(namesIn(theirs, layer).filter((name) => called(mine, name)?.layer === layer));
    compare("order", String(layer), (draft) => namesIn(draft, layer).filter((name) => both.has(name)).join(", "));
  }
  return found;
}

const called = (draft: Draft, name: string) => draft.modules.find((module) => module.name === name);
const namesIn = (draft: Draft, layer: Layer) => modulesOf(draft, layer).map((module) => module.name);

function valueOf(module: DraftModule | undefined, field: (typeof FIELDS)[number]): string | null {
  return module ? String(module[field]) : null;
}
