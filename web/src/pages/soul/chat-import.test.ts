import { expect, test } from "vitest";

import { eventsOf, percentOf } from "./chat-import";

const stream = (...pieces: string[]) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      const bytes = new TextEncoder().encode(pieces.join(""));
      // One byte at a time: letters and events are cut anywhere.
      for (const byte of bytes) controller.enqueue(new Uint8Array([byte]));
      controller.close();
    },
  });

test("events are read however they are cut, and comments are none", async () => {
  const told: unknown[] = [];
  for await (const event of eventsOf(stream('event: progress\ndata: {"messages":1}\n\n', ": ping\n\n", 'event: done\ndata: {"title":"好\u2028"}\n\n'))) {
    told.push(event);
  }
  expect(told).toEqual([
    { name: "progress", data: { messages: 1 } },
    { name: "done", data: { title: "好\u2028" } },
  ]);
});

test("how far an import is follows its phase", () => {
  const state = { messages: 50, total: 200, unindexed: 10 };
  expect(percentOf({ ...state, phase: "reading" })).toBeNull();
  expect(percentOf({ ...state, phase: "storing" })).toBe(25);
  expect(percentOf({ ...state, phase: "indexing" })).toBe(80);
  expect(percentOf({ phase: "indexing", messages: 0, total: 0, unindexed: 0 })).toBeNull();
});
