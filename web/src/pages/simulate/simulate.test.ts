import { describe, expect, it } from "vitest";

import { emotionWords } from "~/words/emotions";
import { simulateWords } from "~/words/simulate";

import { feelingName, heardText } from "./heard";
import { doubled, EMOTIONS, faultsOf, isSound, moved, newStep, requestOf, secondsOf, spanName } from "./script";
import { spans, summaryOf } from "./summary";

describe("times", () => {
  it.each([
    ["8", 8],
    ["8s", 8],
    ["1m30s", 90],
    ["2h", 7200],
    ["30d", 2_592_000],
    ["1.5m", 90],
  ])("%s is %d seconds", (text, seconds) => expect(secondsOf(text)).toBe(seconds));

  it.each(["", "abc", "-5", "8 parsecs", "1e9s", "3000000000", "s8"])("%s is none", (text) =>
    expect(secondsOf(text)).toBeNull(),
  );

  it.each([
    [0, "0s"],
    [95, "1m35s"],
    [7260, "2h1m"],
    [2_592_000, "30d"],
  ])("%d is written %s", (seconds, text) => expect(spanName(seconds)).toBe(text));
});

describe("steps", () => {
  it("names the field at fault and leaves the others alone", () => {
    expect(faultsOf({ ...newStep("abc", ""), what: "say" })).toEqual({ at: true, words: true, intensity: false });
    expect(faultsOf({ ...newStep("8s"), what: "anger", intensity: "7" }).intensity).toBe(true);
    expect(faultsOf({ ...newStep("8s"), what: "anger", intensity: "" })).toEqual({
      at: false,
      words: false,
      intensity: false,
    });
  });

  it("is not sent while it is empty or wrong", () => {
    expect(isSound([], "")).toBe(false);
    expect(isSound([newStep("8s", "hi")], "later")).toBe(false);
    expect(isSound([newStep("8s", "hi")], "4m")).toBe(true);
  });

  it("becomes a request that says only what was written", () => {
    const steps = [newStep("8s", " hi "), { ...newStep("9s", "", "joy"), intensity: "0.5" }];
    expect(requestOf(["INFP"], steps, "")).toEqual({
      mbti_types: ["INFP"],
      entries: [
        { at: "8s", say: "hi" },
        { at: "9s", emotion: "joy", intensity: 0.5 },
      ],
    });
  });
});

describe("a script in another order", () => {
  const steps = [newStep("8s", "a"), newStep("16s", "b"), newStep("1m", "c")];
  const id = (n: number) => steps[n]!.id;
  const told = (script: typeof steps) => script.map(({ at, words }) => `${at} ${words}`);

  it("has its words in other places and the times in theirs", () => {
    expect(told(moved(steps, id(2), id(0)))).toEqual(["8s c", "16s a", "1m b"]);
    expect(moved(steps, id(2), id(0))[0]?.id).toBe(id(2));
    expect(moved(steps, "nobody", id(0))).toBe(steps);
  });

  it("has a doubled step behind the first one, in time", () => {
    expect(told(doubled(steps, id(0)))).toEqual(["8s a", "12s a", "16s b", "1m c"]);
    expect(told(doubled(steps, id(2)))).toEqual(["8s a", "16s b", "1m c", "1m8s c"]);
    const long = [newStep("1d2h3m4s", "a"), newStep("1d2h3m6s", "b")];
    expect(told(doubled(long, long[0]!.id))[1]).toBe("1d2h3m4s a");
    expect(new Set(doubled(steps, id(0)).map((step) => step.id)).size).toBe(4);
  });
});

describe("emotions", () => {
  it("are heard in the words of the page", () => {
    expect(heardText("anger, hostile", emotionWords.en, simulateWords.en)).toBe("anger, hostile");
    expect(heardText("anger, hostile", emotionWords.zh, simulateWords.zh)).toBe("生气，有敌意");
    expect(heardText("joy, making good", emotionWords.zh, simulateWords.zh)).toBe("喜悦，在示好");
  });

  it("can be chosen in Chinese, all of them", () => {
    for (const what of EMOTIONS) expect(feelingName(what, emotionWords.zh, simulateWords.zh)).not.toMatch(/[a-z]/);
  });
});

describe("the summary", () => {
  const sample = (at: number, blocked: boolean) =>
    ({ at, p: -at / 10, exec_mode: blocked ? "blocked" : "auto_execute", locked: false }) as never;
  const cue = (at: number) => ({ at, words: null, emotion: "anger", heard_as: "anger" });

  it("finds periods, the one that never ends too", () => {
    const samples = [sample(0, false), sample(1, true), sample(2, false), sample(3, true)];
    expect(spans(samples, (one) => one.exec_mode === "blocked")).toEqual([
      { from: 1, to: 2 },
      { from: 3, to: 3 },
    ]);
  });

  it("says at which step it first would not act", () => {
    const found = summaryOf([sample(0, false), sample(8, false), sample(16, true)], [cue(8), cue(16)]);
    expect(found.firstBlocked).toEqual({ at: 16, step: 2 });
    expect(found.lowestPleasure).toBe(-1.6);
  });
});
