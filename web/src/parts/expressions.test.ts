import { expect, it } from "vitest";

import { EXPRESSIONS, expressionOf } from "./expressions";

it("shows the expression of the mood, however strong it is", () => {
  expect(expressionOf("clearly sad", EXPRESSIONS)).toBe("sadness");
  expect(expressionOf("calm", EXPRESSIONS)).toBe("calm");
  expect(expressionOf("strongly elated", EXPRESSIONS)).toBe("excitement");
});

it("takes the nearest one that there is", () => {
  expect(expressionOf("slightly sad", ["avatar", "joy", "disappointment"])).toBe("disappointment");
  expect(expressionOf("slightly cheerful", ["avatar", "relief", "sadness"])).toBe("relief");
});

it("shows no face that would lie, and no avatar for a mood", () => {
  expect(expressionOf("clearly sad", ["avatar", "joy", "excitement"])).toBeNull();
  expect(expressionOf("calm", ["avatar"])).toBeNull();
});

it("has nothing for a mood it does not know", () => {
  expect(expressionOf("wistful", EXPRESSIONS)).toBeNull();
  expect(expressionOf("", EXPRESSIONS)).toBeNull();
});
