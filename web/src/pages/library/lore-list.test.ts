import { expect, it } from "vitest";

import { edited, emptyEntry, matching, put, reordered, totals, without } from "./lore-list";
import { titlesOf } from "./lore-title";

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
  const none = () => [];
  expect(ids(matching(lore, "KEY-A", none))).toBe("a");
  expect(ids(matching(lore, "礁", none))).toBe("c");
  expect(ids(matching(lore, " ", none))).toBe("abc");
});

it("finds entries by the titles that they had in a lorebook or a card", () => {
  const named = [entry("King_s_Tower_第一章"), entry("card.1"), entry("mine"), entry("lore.7"), emptyEntry()];
  const entries = [null, { name: "The Reef", comment: "written in spring" }, { extensions: { soulgraph: { id: "mine" } }, comment: "At home" }];
  const titles = titlesOf({ extensions: { card: { data: { character_book: { entries } } } } });
  expect(named.map(titles)).toEqual([["King s Tower 第一章"], ["The Reef", "written in spring"], ["At home"], [], []]);
  expect(ids(matching(named, "king's tower", titles))).toBe("King_s_Tower_第一章");
  expect(ids(matching(named, "Spring", titles))).toBe("card.1");
  expect(ids(matching(named, "at home", titles))).toBe("mine");
  expect(matching(named, "!?", titles)).toEqual([]);
  expect(titlesOf({ extensions: {} })(entry("card.1"))).toEqual([]);
});

it("adds tokens up", () => {
  expect(totals(lore)).toEqual({ all: 4, enabled: 2, constant: 1 });
});
