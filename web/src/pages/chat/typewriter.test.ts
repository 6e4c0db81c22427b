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

test("no character is ever shown by halves", () => {
  for (const step of typed("😀😀😀 你好 😀")) expect(() => encodeURIComponent(step)).not.toThrow();
});
