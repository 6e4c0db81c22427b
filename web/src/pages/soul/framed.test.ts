import { describe, expect, it } from "vitest";

import { framed, type Moment } from "./framed";

const at = (seconds: number, p: number): Moment => ({
  at: new Date(seconds * 1000).toISOString(),
  p,
  a: 0,
  d: 0,
  drift: { empathy: p / 10 },
});
const shown = (points: Moment[]) => points.map((point) => [Date.parse(point.at) / 1000, point.p]);

describe("the part that is zoomed to", () => {
  const all = [at(0, 0), at(100, 1), at(200, 0)];

  it("has the line that goes through where nothing was recorded", () => {
    const points = framed([], all, 25, 75);
    expect(shown(points)).toEqual([
      [25, 0.25],
      [75, 0.75],
    ]);
    expect(points[0]?.drift).toEqual({ empathy: 0.025 });
  });

  it("has what was read of it, and the line up to its edges", () => {
    expect(shown(framed([at(90, 0.8), at(100, 1)], all, 50, 150))).toEqual([
      [50, expect.closeTo(0.444, 2) as number],
      [90, 0.8],
      [100, 1],
      [150, 0.5],
    ]);
  });

  it("does not go on before the beginning or after the end", () => {
    expect(shown(framed([at(200, 0)], all, 150, 300))).toEqual([
      [150, 0.5],
      [200, 0],
    ]);
    expect(framed([], all, 300, 400)).toEqual([]);
  });
});
