import { expect, it } from "vitest";

import { sizeOf, tokensOf } from "./tokens";

it("counts as the server estimates", () => {
  expect(tokensOf("")).toBe(0);
  expect(tokensOf("abcde")).toBe(2);
  expect(tokensOf("你好，ab")).toBe(4);
  expect(tokensOf("😀😀😀😀😀")).toBe(2);
});

it("adds up texts", () => {
  expect(sizeOf(["你好", "abcd"])).toEqual({ tokens: 3, characters: 6 });
});
