import { expect, it } from "vitest";

import { beginning, change, redo, undo } from "./history";

it("takes changes back and makes them again", () => {
  const history = change(change(beginning("a"), "b", ""), "c", "");
  expect(undo(history).present).toBe("b");
  expect(undo(undo(undo(history))).present).toBe("a");
  expect(redo(undo(history)).present).toBe("c");
  expect(redo(history)).toBe(history);
});

it("counts more of the same as one step", () => {
  const history = change(change(change(beginning("a"), "ab", "text"), "abc", "text"), "abd", "name");
  expect(undo(history).present).toBe("abc");
  expect(undo(undo(history)).present).toBe("a");
});

it("forgets what was taken back once something else is changed", () => {
  const history = change(undo(change(beginning("a"), "b", "")), "c", "");
  expect(redo(history).present).toBe("c");
});
