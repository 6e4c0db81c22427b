import { expect, test } from "vitest";

import { excessOf, lengthOf } from "~/parts/limits";

test("characters are counted as the server counts them", () => {
  expect(lengthOf("  好\n")).toBe(1);
  expect(lengthOf("😀".repeat(500))).toBe(500);
});

test("a text is too long by what is over its limit", () => {
  expect(excessOf("好".repeat(500), 500)).toBe(0);
  expect(excessOf(` ${"好".repeat(512)} `, 500)).toBe(12);
});
