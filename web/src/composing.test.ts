import type { KeyboardEvent as ReactKeyboardEvent } from "react";
import { expect, test, vi } from "vitest";

import { holdWhileComposing, isComposing } from "~/composing";

const pressed = (key: string, more: KeyboardEventInit = {}) => new KeyboardEvent("keydown", { key, ...more });

function held(native: KeyboardEvent): boolean {
  const event = { key: native.key, nativeEvent: native, preventDefault: vi.fn(), stopPropagation: vi.fn() };
  holdWhileComposing(event as unknown as ReactKeyboardEvent);
  expect(event.preventDefault.mock.calls).toEqual(event.stopPropagation.mock.calls);
  return event.preventDefault.mock.calls.length > 0;
}

test("a key belongs to the composition if the event says so, or by the code that its last key has", () => {
  expect(isComposing(pressed("Escape"))).toBe(false);
  expect(isComposing(pressed("Escape", { isComposing: true }))).toBe(true);
  expect(isComposing(pressed("Escape", { keyCode: 229 } as KeyboardEventInit))).toBe(true);
});

test("only an Enter that chooses a word is kept from everybody else", () => {
  expect(held(pressed("Enter", { isComposing: true }))).toBe(true);
  expect(held(pressed("Enter"))).toBe(false);
  expect(held(pressed("a", { isComposing: true }))).toBe(false);
});
