/** The numbers of the memory slots, by kind. */

import type { Schemas } from "~/api/client";

export type Slot = Schemas["SlotOut"];
export type SlotKind = Slot["kind"];

export const KINDS: { kind: SlotKind; first: number; last: number }[] = [
  { kind: "fact", first: 0, last: 9 },
  { kind: "moment", first: 10, last: 19 },
  { kind: "feeling", first: 20, last: 29 },
  { kind: "growth", first: 30, last: 39 },
  { kind: "free", first: 40, last: 99 },
];

/** How many characters a slot takes. */
export const MOST_OF_SLOT = 500;

/** The first number of a kind that holds nothing; undefined if all do. */
export function freeSlot(kind: SlotKind, taken: number[]): number | undefined {
  const { first, last } = KINDS.find((one) => one.kind === kind)!;
  return Array.from({ length: last - first + 1 }, (_, at) => first + at).find((n) => !taken.includes(n));
}
