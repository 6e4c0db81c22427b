import { expect, it } from "vitest";

import { differences } from "./differences";
import { added, changed, type Draft, draftOf, moved, removed } from "./draft";

const base = draftOf({
  id: "t", name: "T", voice: "companion", shipped: false, revision: "r", created_at: null, updated_at: null,
  modules: [
    { name: "A", layer: 2, priority: 10, enabled: true, content: "a" },
    { name: "B", layer: 2, priority: 20, enabled: true, content: "b" },
    { name: "C", layer: 2, priority: 30, enabled: true, content: "c" },
  ],
});
const key = (name: string, draft = base) => draft.modules.find((module) => module.name === name)?.key ?? "";
const told = (mine: Draft, theirs: Draft) => differences(base, mine, theirs);

it("tells who has changed which text, mine against theirs", () => {
  const mine = changed(changed(base, key("C"), { text: "my c" }), key("A"), { text: "my a" });
  const theirs = changed(changed(base, key("A"), { text: "their a" }), key("B"), { enabled: false });
  expect(told(mine, theirs)).toEqual([
    { field: "text", of: "A", mine: "my a", theirs: "their a", by: "both" },
    { field: "enabled", of: "B", mine: "true", theirs: "false", by: "them" },
    { field: "text", of: "C", mine: "my c", theirs: "c", by: "me" },
  ]);
});

it("tells of modules that only one of them has, and of the template's own name", () => {
  const grown = added(base, 3, "D");
  const mine = { ...changed(grown.draft, grown.key, { text: "d" }), name: "Mine" };
  expect(told(mine, removed(base, key("B")))).toEqual([
    { field: "name", of: "", mine: "Mine", theirs: "T", by: "me" },
    { field: "module", of: "B", mine: "b", theirs: null, by: "them" },
    { field: "module", of: "D", mine: "d", theirs: null, by: "me" },
  ]);
});

it("tells an order once, and not by every number that it needs", () => {
  expect(told(base, moved(base, key("C"), key("A")))).toEqual([
    { field: "order", of: "2", mine: "A, B, C", theirs: "C, A, B", by: "them" },
  ]);
  expect(told(base, base)).toEqual([]);
});
