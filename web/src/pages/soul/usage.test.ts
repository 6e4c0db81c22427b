import { expect, it } from "vitest";

import { byDay, type Row } from "./usage";

const row = (day: string, kind: Row["kind"], input_tokens: number, output_tokens: number): Row => ({
  day,
  kind,
  calls: 1,
  input_tokens,
  output_tokens,
});

it("adds up each day by what it was spent for, and keeps the order of the days", () => {
  const rows = [row("2026-11-17", "archive", 10, 5), row("2026-11-17", "turn", 100, 20), row("2026-11-16", "life", 1, 1)];
  expect(byDay(rows)).toEqual([
    {
      day: "2026-11-17",
      tokens: 135,
      parts: [
        { kind: "turn", tokens: 120 },
        { kind: "archive", tokens: 15 },
      ],
    },
    { day: "2026-11-16", tokens: 2, parts: [{ kind: "life", tokens: 2 }] },
  ]);
});

it("shows a day on which calls failed without any tokens", () => {
  expect(byDay([row("2026-11-17", "turn", 0, 0)])).toEqual([{ day: "2026-11-17", tokens: 0, parts: [] }]);
});
