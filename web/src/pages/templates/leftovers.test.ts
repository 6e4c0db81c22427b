import { expect, it } from "vitest";

import { leftoversOf } from "./leftovers";

const variables = ["soul_name", "mode"].map((name) => ({ name, layer: 0, changing: false, meaning: "" }));
const found = (kind: "template" | "content", text: string) =>
  leftoversOf({ kind, text }, variables).map(({ text: braces, verdict }) => [braces, verdict]);

it("names every macro of a text with variables one by one", () => {
  const pasted = "{{char}} and {{ soul_name }}: {{random::a,b}} {{roll:d6}} {{time}} {{// short}} {{time}} {not one} {{soul_na\nthen";
  expect(found("template", pasted)).toEqual([
    ["{{char}}", "unknown"],
    ["{{random::a,b}}", "unknown"],
    ["{{roll:d6}}", "unknown"],
    ["{{time}}", "unknown"],
    ["{{// short}}", "unknown"],
    ["{{soul_na", "unclosed"],
  ]);
  expect(leftoversOf({ kind: "template", text: "{{char}}" }, variables)[0]?.instead).toBe("soul_name");
});

it("knows what of a text that is said as it is goes to the model, and what is refused", () => {
  expect(found("content", "{{random::a,b}} {{time}} {{mode}} {{角色}}")).toEqual([
    ["{{random::a,b}}", "left"],
    ["{{time}}", "unknown"],
    ["{{mode}}", "asIs"],
    ["{{角色}}", "unknown"],
  ]);
});

it("finds nothing in variables, their other names and single braces", () => {
  expect(found("template", "{{mode}} {{rag_events}} { {x} } }}")).toEqual([]);
});
