import { expect, test } from "vitest";

import { dayName } from "~/pages/chat/times";
import { chatWords } from "~/words/chat";

const NOW = new Date(2026, 10, 17, 9).getTime();

test("days are called by how long ago they are", () => {
  const { en, zh } = chatWords;
  expect(dayName(new Date(2026, 10, 17, 0, 1).getTime(), NOW, "en", en)).toBe("Today");
  expect(dayName(new Date(2026, 10, 16, 23, 59).getTime(), NOW, "zh", zh)).toBe("昨天");
  expect(dayName(new Date(2026, 10, 9).getTime(), NOW, "en", en)).toBe("Monday 9 November");
  expect(dayName(new Date(2025, 0, 2).getTime(), NOW, "zh", zh)).toContain("2025年");
});

test("the last day of a month is yesterday on the first of the next", () => {
  const first = new Date(2026, 2, 1, 8).getTime();
  expect(dayName(new Date(2026, 1, 28, 20).getTime(), first, "en", chatWords.en)).toBe("Yesterday");
});
