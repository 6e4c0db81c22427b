import { describe, expect, it } from "vitest";

import { diff, type DiffPart } from "./diff";

const told = (parts: DiffPart[], side: "removed" | "added") =>
  parts
    .filter(({ kind }) => kind === "same" || kind === side)
    .map(({ text }) => text)
    .join("");

describe("diff", () => {
  it("names the words that went and those that came", () => {
    expect(diff("trusts nobody easily", "trusts Ann easily")).toEqual([
      { kind: "same", text: "trusts " },
      { kind: "removed", text: "nobody" },
      { kind: "added", text: "Ann" },
      { kind: "same", text: " easily" },
    ]);
  });

  it("compares Chinese by words, not as one long piece", () => {
    const parts = diff("不再轻易相信他人。", "开始相信他人。");
    expect(parts.filter(({ kind }) => kind === "same").map(({ text }) => text)).toContain("相信他人。");
  });

  it("keeps both texts whole, whatever has changed", () => {
    const before = "信念: 怕一个人。\n行为: 沉默。 It was cold, cold, cold.";
    const after = "信念: 不怕了。\n关系: 更近。 It was warm, cold.";
    const parts = diff(before, after);
    expect(told(parts, "removed")).toBe(before);
    expect(told(parts, "added")).toBe(after);
  });

  it("tells of equal, empty and wholly new texts", () => {
    expect(diff("same", "same")).toEqual([{ kind: "same", text: "same" }]);
    expect(diff("", "")).toEqual([]);
    expect(diff("", "new")).toEqual([{ kind: "added", text: "new" }]);
    expect(diff("old", "")).toEqual([{ kind: "removed", text: "old" }]);
  });

  it("does not count what both begin and end with twice", () => {
    expect(diff("a a a", "a a a a a")).toEqual([
      { kind: "same", text: "a a a" },
      { kind: "added", text: " a a" },
    ]);
  });

  it("compares long texts by sentences, and is done soon", () => {
    const long = (word: string) => Array.from({ length: 3000 }, (_, n) => `${word} ${n} here. `).join("");
    const before = `${long("first")}The end. `;
    const after = `${long("other")}The end. `;
    const parts = diff(before, after);
    expect(told(parts, "added")).toBe(after);
    expect(parts.at(-1)?.text.endsWith("The end. ")).toBe(true);
  });
});
