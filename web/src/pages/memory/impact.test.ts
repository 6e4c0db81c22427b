import { expect, it } from "vitest";

import { changesOf } from "./impact";

it("reads what an event has changed", () => {
  const impact = { state_changes: [{ field: "emotions", before: "", after: "hurt" }] };
  expect(changesOf(impact)).toEqual([{ field: "emotions", before: "", after: "hurt" }]);
});

it("is content with whatever a model has written", () => {
  expect(changesOf({})).toEqual([]);
  expect(changesOf({ state_changes: "none" })).toEqual([]);
  expect(changesOf({ state_changes: [null, 3, {}, { after: "calm", before: 4 }] })).toEqual([
    { field: "", before: "", after: "calm" },
  ]);
});
