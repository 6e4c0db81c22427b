import { expect, test } from "vitest";

import { anew, type TurnWords, withWords } from "~/live/turn-words";

const spoken = (turn: TurnWords, ...texts: string[]) => texts.map((text) => (turn = withWords(turn, text)).reply);

test("words are put one after another", () => {
  expect(spoken({ reply: "", again: null }, "I ", "hear ", "you.")).toEqual(["I ", "I hear ", "I hear you."]);
});

test("a turn that is sent again loses no word that is shown, and shows none twice", () => {
  const broken = anew({ reply: "I hear y", again: null });
  expect(broken.reply).toBe("I hear y");
  expect(spoken(broken, "I ", "hear ", "you.", " Go on.")).toEqual([
    "I hear y",
    "I hear y",
    "I hear you.",
    "I hear you. Go on.",
  ]);
  expect(spoken(broken, "I hear you. Go on.")).toEqual(["I hear you. Go on."]);
});

test("another reply takes the place of the one that broke off", () => {
  expect(spoken(anew({ reply: "Clock 1 had", again: null }), "All ", "clocks")).toEqual(["All ", "All clocks"]);
});
