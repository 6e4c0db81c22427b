import { expect, test } from "vitest";

import { nextLength } from "~/pages/chat/typewriter";

function typed(text: string): string[] {
  const steps: string[] = [];
  for (let shown = 0; shown < text.length; ) {
    shown = nextLength(text, shown);
    steps.push(text.slice(0, shown));
  }
  return steps;
}

test("a text appears step by step until it is complete", () => {
  const text = "words that come ".repeat(20);
  const steps = typed(text);
  expect(steps.length).toBeGreaterThan(10);
  expect(steps.length).toBeLessThan(120);
  expect(steps.at(-1)).toBe(text);
});

test("it is there as soon with few frames as with many", () => {
  const text = "words that come ".repeat(20);
  expect(nextLength(text, 0, 7)).toBe(text.length / 2);
  expect(nextLength(text, 0, 60)).toBe(text.length);
});

test("no character is ever shown by halves", () => {
  for (const step of typed("😀😀😀 你好 😀")) expect(() => encodeURIComponent(step)).not.toThrow();
});
