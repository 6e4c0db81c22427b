import { expect, it } from "vitest";

import { withoutSharing } from "./take-back";

const state = {
  learned_patterns: {
    items: [
      { pattern: "Ann wakes early", priority: 9, timestamp: "t1", user_id: "ann", shared_with: ["bob"] },
      { pattern: "Ann wakes early", priority: 8, timestamp: "t1", user_id: "cat", shared_with: ["bob"] },
      { pattern: "Rain calms", priority: 8, timestamp: "t2" },
    ],
  },
};

it("makes the item of that person private and leaves all others as they are", () => {
  const taken = withoutSharing(state, { user_id: "ann", text: "Ann wakes early", at: "t1" });
  const [ann, ...others] = taken!.learned_patterns!.items;
  expect(ann).toEqual({ ...state.learned_patterns.items[0], shared_with: [] });
  expect(others).toEqual(state.learned_patterns.items.slice(1));
});

it("finds nothing where the item has changed or gone", () => {
  expect(withoutSharing(state, { user_id: "ann", text: "Ann sleeps late", at: "t1" })).toBeNull();
});
