import { expect, it } from "vitest";

import { freeSlot, KINDS } from "./slot-numbers";

it("finds the first free slot of a kind", () => {
  expect(freeSlot("fact", [])).toBe(0);
  expect(freeSlot("fact", [0, 1, 3])).toBe(2);
  expect(freeSlot("free", [40])).toBe(41);
});

it("says when a kind is full", () => {
  const taken = Array.from({ length: 10 }, (_, n) => 10 + n);
  expect(freeSlot("moment", taken)).toBeUndefined();
});

it("knows all hundred slots, each of one kind", () => {
  const numbers = KINDS.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, at) => first + at));
  expect(numbers).toEqual(Array.from({ length: 100 }, (_, n) => n));
});
