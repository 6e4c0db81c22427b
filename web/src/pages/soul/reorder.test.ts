import { describe, expect, it } from "vitest";

import { type Item, idOf, ranked, withItems } from "./profile";
import { reordered } from "./reorder";

const item = (content: string, priority: number, timestamp: string): Item => ({ content, priority, timestamp });
const names = (items: Item[] | null) => items?.map(({ content }) => content);
const levels = (items: Item[] | null) => items?.map(({ priority }) => priority);

describe("reordered", () => {
  const spread = [item("a", 9, "2026-01-03"), item("b", 6, "2026-01-02"), item("c", 3, "2026-01-01")];

  it("changes only the one that was moved where there is room", () => {
    expect(levels(reordered(spread, 2, 1))).toEqual([9, 7, 6]);
    expect(levels(reordered(spread, 0, 1))).toEqual([6, 5, 3]);
  });

  it("needs no new priority where the time decides among equals", () => {
    const equal = [item("old", 5, "2026-01-02"), item("older", 5, "2026-01-01"), item("new", 4, "2026-01-03")];
    const moved = reordered(equal, 2, 0);
    expect(names(moved)).toEqual(["new", "old", "older"]);
    expect(levels(moved)).toEqual([5, 5, 5]);
  });

  it("is kept in this order by the server, wherever an item goes", () => {
    const many = Array.from({ length: 10 }, (_, n) => item(`i${n}`, 7, `2026-01-${String(20 - n)}`));
    for (let from = 0; from < many.length; from++) {
      for (let to = 0; to < many.length; to++) {
        const moved = reordered(many, from, to);
        expect(names(ranked(moved ?? []))).toEqual(names(moved));
      }
    }
  });

  it("pushes others aside at the ends of the scale", () => {
    const top = [item("a", 10, "2026-01-01"), item("b", 8, "2026-01-01")];
    const moved = reordered([item("old", 10, "2026-01-05"), ...top], 0, 1);
    expect(names(ranked(moved ?? []))).toEqual(["a", "old", "b"]);
  });

  it("lets nothing fade only because something else was moved", () => {
    const low = [item("new", 3, "2026-01-02"), item("old", 3, "2026-01-01")];
    expect(levels(reordered(low, 1, 0))).toEqual([4, 3]);
  });

  it("says when ten levels do not suffice", () => {
    const rising = Array.from({ length: 12 }, (_, n) => item(`i${n}`, 5, `2026-01-${String(10 + n)}`));
    expect(reordered(rising, 0, 1)).toBeNull();
  });

  it("leaves a single item as it is", () => {
    expect(levels(reordered([item("a", 4, "2026-01-01")], 0, 0))).toEqual([4]);
  });
});

describe("a profile", () => {
  it("keeps a field in the server's order after an edit", () => {
    const state = withItems({ emotions: { items: [item("a", 5, "2026-01-01")] } }, "emotions", (items) => [
      ...items,
      item("b", 8, "2026-01-02"),
      item("c", 5, "2026-01-03"),
    ]);
    expect(names(state.emotions?.items ?? [])).toEqual(["b", "c", "a"]);
  });

  it("tells items apart by their words and person, not by their priority", () => {
    expect(idOf(item("a", 1, "x"))).toBe(idOf(item("a", 9, "y")));
    expect(idOf({ ...item("a", 1, "x"), user_id: "ann" })).not.toBe(idOf(item("a", 1, "x")));
  });
});
