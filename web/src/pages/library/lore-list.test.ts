import { expect, it } from "vitest";

import { edited, emptyEntry, matching, put, reordered, totals, without } from "./lore-list";

const entry = (id: string, change: object = {}) => ({ ...emptyEntry(), id, keys: [`key-${id}`], content: "abcd", ...change });
const lore = [entry("a"), entry("b", { constant: true }), entry("c", { enabled: false, content: "礁石" })];
const ids = (entries: { id: string }[]) => entries.map((one) => one.id).join("");

it("changes and deletes the chosen ones", () => {
  expect(edited(lore, new Set(["a", "c"]), { priority: 9 }).map((one) => one.priority)).toEqual([9, 50, 9]);
  expect(ids(without(lore, new Set(["b"])))).toBe("ac");
});

it("orders by drag and leaves what it does not know", () => {
  expect(ids(reordered(lore, "c", "a"))).toBe("cab");
  expect(ids(reordered(lore, "x", "a"))).toBe("abc");
});

it("puts an entry in its place or at the end", () => {
  expect(ids(put(lore, entry("b", { content: "new" })))).toBe("abc");
  expect(ids(put(lore, entry("d")))).toBe("abcd");
});

it("finds entries by their keys and content", () => {
  expect(ids(matching(lore, "KEY-A"))).toBe("a");
  expect(ids(matching(lore, "礁"))).toBe("c");
  expect(ids(matching(lore, " "))).toBe("abc");
});

it("adds tokens up", () => {
  expect(totals(lore)).toEqual({ all: 4, enabled: 2, constant: 1 });
});
