import { describe, expect, it } from "vitest";

import {
  added, addedByItself, bodyOf, changed, type Draft, draftOf, freeName, inLayer, isSame, moved, nudged, ownText, removed,
  rows, type Stored,
} from "./draft";

const stored: Stored = {
  id: "t",
  name: "T",
  voice: "companion",
  shipped: false,
  revision: "r",
  created_at: null,
  updated_at: null,
  modules: [
    { name: "C", layer: 4, priority: 7, enabled: true, template: "{{mode}}" },
    { name: "B", layer: 2, priority: 40, enabled: true, content: "b" },
    { name: "A", layer: 2, priority: 3, enabled: false, template: "{{ soul_name }} a" },
  ],
};

const names = (draft: Draft) => draft.modules.map((module) => `${module.layer}${module.name}${module.priority}`);
const keyOf = (draft: Draft, name: string) => draft.modules.find((module) => module.name === name)?.key ?? "";

describe("a draft", () => {
  it("has its modules in the order of the prompt and is sent as it came", () => {
    const draft = draftOf(stored);
    expect(names(draft)).toEqual(["2A3", "2B40", "4C7"]);
    expect(bodyOf(draft).modules[0]).toEqual({
      name: "A", layer: 2, priority: 3, enabled: false, template: "{{ soul_name }} a",
    });
    expect(isSame(draft, draftOf(stored))).toBe(true);
    expect(isSame(draft, changed(draft, keyOf(draft, "A"), { text: "x" }))).toBe(false);
  });

  it("has the head of every layer among its rows, also of an empty one", () => {
    const draft = draftOf(stored);
    expect(rows(draft)).toEqual([
      "layer-2", keyOf(draft, "A"), keyOf(draft, "B"), "layer-3", "layer-4", keyOf(draft, "C"), "layer-5",
    ]);
  });

  it("writes priorities anew only where modules moved", () => {
    const draft = draftOf(stored);
    expect(names(moved(draft, keyOf(draft, "B"), keyOf(draft, "A")))).toEqual(["2B10", "2A20", "4C7"]);
  });

  it("moves a module to another layer by the head of that layer", () => {
    const draft = draftOf(stored);
    expect(names(moved(draft, keyOf(draft, "A"), "layer-3"))).toEqual(["2B10", "3A10", "4C7"]);
    expect(names(moved(draft, keyOf(draft, "C"), "layer-2"))).toEqual(["2C10", "2A20", "2B30"]);
    expect(names(inLayer(draft, keyOf(draft, "A"), 5))).toEqual(["2B10", "4C7", "5A10"]);
  });

  it("nudges a module over the border of its layer and stops at the ends", () => {
    const draft = draftOf(stored);
    expect(names(nudged(draft, keyOf(draft, "B"), 1))).toEqual(["2A10", "3B10", "4C7"]);
    expect(names(nudged(draft, keyOf(draft, "A"), -1))).toEqual(names(draft));
    const atEnd = inLayer(draft, keyOf(draft, "C"), 5);
    expect(nudged(atEnd, keyOf(atEnd, "C"), 1)).toBe(atEnd);
  });

  it("adds a module at the end of its layer under a free name, and removes it", () => {
    const { draft, key } = added(draftOf(stored), 2, "A");
    expect(names(draft)).toEqual(["2A3", "2B40", "2A 250", "4C7"]);
    expect(names(removed(draft, key))).toEqual(["2A3", "2B40", "4C7"]);
  });

  it("knows what the server adds by itself: what no enabled module says", () => {
    const draft = draftOf(stored);
    expect(addedByItself(draft, 2)).toEqual(["base_persona"]);
    expect(addedByItself(draft, 4)).toEqual([]);
    expect(addedByItself(changed(draft, keyOf(draft, "C"), { enabled: false }), 4)).toEqual(["mode"]);
  });

  it("counts the text of its own without variables and without what is off", () => {
    const draft = draftOf(stored);
    expect(ownText(draft)).toBe(1);
    expect(ownText(changed(draft, keyOf(draft, "A"), { enabled: true }))).toBe(3);
  });
});

it("finds a free name without regard to case", () => {
  expect(freeName("new", ["New", "new 2"])).toBe("new 3");
});
