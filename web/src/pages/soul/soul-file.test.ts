import { describe, expect, it } from "vitest";

import { fileName, readWhole } from "./soul-file";
import { sizeOf } from "./when";

const stream = (...pieces: string[]) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });

describe("an export", () => {
  it("is read whole, and says after each piece how much has come", async () => {
    const told: { bytes: number; lines: number }[] = [];
    const pieces = await readWhole(stream('{"a":1}\n{"b"', ':"好"}\n'), (progress) => told.push(progress));
    const decoder = new TextDecoder();
    expect(pieces.map((piece) => decoder.decode(piece)).join("")).toBe('{"a":1}\n{"b":"好"}\n');
    expect(told).toEqual([
      { bytes: 12, lines: 1 },
      { bytes: 20, lines: 2 },
    ]);
  });

  it("has a name that every file system takes", () => {
    const at = new Date("2026-11-17T09:00:00Z");
    expect(fileName("小满", at)).toBe("小满-2026-11-17.jsonl");
    expect(fileName("../a b:c", at)).toBe("a-b-c-2026-11-17.jsonl");
    expect(fileName("///", at)).toBe("soul-2026-11-17.jsonl");
  });

  it("tells its size in a few digits", () => {
    expect([0, 999, 1536, 123_456, 7_250_000].map(sizeOf)).toEqual(["0 B", "999 B", "1.5 kB", "123 kB", "7.3 MB"]);
  });
});
