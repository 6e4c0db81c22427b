import { expect, test } from "vitest";

import { problemWords, sentenceOf } from "~/words/problems";

const RAW = "Error code: 401 - {'error': {'message': 'Incorrect API key provided: sk-abc123'}}";

const ofModel = Object.keys(problemWords.en).filter((code) => /^(model_|turn_output)/.test(code));

test.each(ofModel)("what a model's server says is not shown for %s", (name) => {
  const [code = "", reason] = name.split(".");
  for (const lang of ["en", "zh"] as const) {
    const sentence = sentenceOf({ code, reason, detail: RAW }, lang);
    expect(sentence).not.toMatch(/sk-|error|\{/);
    expect(sentence).not.toBe(sentenceOf({ code, reason, detail: RAW }, lang === "en" ? "zh" : "en"));
  }
});

test("each reason has a sentence of its own, and an unknown one that of its code", () => {
  expect(new Set(ofModel.map((name) => problemWords.en[name as keyof typeof problemWords.en](""))).size).toBe(ofModel.length);
  const plain = sentenceOf({ code: "model_refused", detail: RAW }, "en");
  expect(sentenceOf({ code: "model_refused", reason: "key", detail: RAW }, "en")).not.toBe(plain);
  expect(sentenceOf({ code: "model_refused", reason: "new", detail: RAW }, "en")).toBe(plain);
});

test("other refusals are told in the server's words where they are English, and of unknown ones everywhere", () => {
  const problem = { code: "soul_exists", detail: "this user already has a soul called 'Pip': choose another name" };
  expect(sentenceOf(problem, "en")).toBe(problem.detail);
  expect(sentenceOf(problem, "zh")).toBe("已经有同名的灵魂，请换一个名字。");
  expect(sentenceOf({ code: "invalid_input", detail: "content: too long" }, "zh")).toContain("content: too long");
  expect(sentenceOf({ code: "quite_new", detail: "do this" }, "zh")).toBe("do this");
});
