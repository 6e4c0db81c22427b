import { expect, it } from "vitest";

import { candidates, completed, openVariable } from "./completion";

const variable = (name: string, layer: number) => ({ name, layer, changing: false, meaning: "" });

it("finds the variable that is being typed", () => {
  expect(openVariable("Hi {{so", 7)).toEqual({ from: 3, typed: "so" });
  expect(openVariable("Hi {{", 5)).toEqual({ from: 3, typed: "" });
  expect(openVariable("Hi {{soul_name}} and", 20)).toBeNull();
  expect(openVariable("Hi {so", 6)).toBeNull();
});

it("writes a variable out and keeps what follows", () => {
  expect(completed("Hi {{so, you", 7, "soul_name")).toEqual({ text: "Hi {{soul_name}}, you", caret: 16 });
  expect(completed("{{mo}} here", 4, "mode")).toEqual({ text: "{{mode}} here", caret: 8 });
  expect(completed("{{mood}} here", 4, "mode")).toEqual({ text: "{{mode}} here", caret: 8 });
  expect(completed("{{mo then", 4, "mode")).toEqual({ text: "{{mode}} then", caret: 8 });
});

it("inserts a variable where none is being typed", () => {
  expect(completed("a b", 2, "mode")).toEqual({ text: "a {{mode}}b", caret: 10 });
});

it("offers what begins so first, and other layers last", () => {
  const all = [variable("mode", 4), variable("commode", 2), variable("model", 2), variable("other", 0)];
  expect(candidates(all, "mod", 2).map((one) => one.name)).toEqual(["model", "commode", "mode"]);
});
