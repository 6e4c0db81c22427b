import { expect, test } from "vitest";

import { explained, feel, isTurned, type MoodWatch, UNKNOWN_MOOD } from "~/pages/chat/mood-watch";

const TICK_MS = 3_000;

/** What comes of moods, given by their pleasure, one tick after another. */
function felt(pleasures: number[], own = false, first: MoodWatch = UNKNOWN_MOOD, begin = 0) {
  let watch = first;
  const unexplained = pleasures.filter((p, n) => {
    const after = feel(watch, { p, a: 0, d: 0, at: begin + n * TICK_MS }, own);
    watch = after.watch;
    return after.unexplained;
  });
  return { watch, unexplained: unexplained.length };
}

test("a mood that moves by itself was turned by nobody, nor one that was not heard of for long", () => {
  expect(isTurned(felt([0.5, 0.48, 0.46, 0.44]).watch)).toBe(false);
  expect(isTurned(felt([0.1], false, felt([0.5]).watch, 3_600_000).watch)).toBe(false);
});

test("a mood that leaps was turned, but not by others while a turn of ours runs", () => {
  expect(isTurned(felt([0.1, 0.4, 0.39]).watch)).toBe(true);
  expect(isTurned(felt([0.1, 0.4], true).watch)).toBe(false);
});

test("a turn that is told explains it, once", () => {
  const watch = explained(felt([0.1, 0.4]).watch);
  expect(isTurned(watch)).toBe(false);
  expect(isTurned(felt([0.4, 0.39], false, watch, 2 * TICK_MS).watch)).toBe(false);
});

test("what nobody tells of was in a conversation of others, and is told once, unless it was taken back", () => {
  const later = Array<number>(40).fill(0.4);
  expect(felt([0.1, ...later]).unexplained).toBe(1);
  expect(felt([0.1, 0.4, ...Array<number>(40).fill(0.1)]).unexplained).toBe(0);
});
