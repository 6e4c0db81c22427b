import { describe, expect, it } from "vitest";

import { anchor, drifted, outline, spot } from "./radar";

const centre = { x: 100, y: 100 };

describe("radar", () => {
  it("begins at the top and goes clockwise", () => {
    expect(spot(0, 4, 1, centre, 80)).toEqual({ x: 100, y: 20 });
    expect(spot(1, 4, 1, centre, 80)).toEqual({ x: 180, y: 100 });
    expect(spot(2, 4, 0.5, centre, 80)).toEqual({ x: 100, y: 140 });
  });

  it("keeps values inside of the figure", () => {
    expect(spot(0, 5, 3, centre, 80)).toEqual(spot(0, 5, 1, centre, 80));
    expect(spot(2, 5, -1, centre, 80)).toEqual({ x: 100, y: 100 });
  });

  it("draws one corner for each value", () => {
    expect(outline([1, 0, 0.5, 0], centre, 80)).toBe("100,20 100,100 100,140 100,100");
  });

  it("puts labels outside", () => {
    expect(anchor(spot(0, 5, 1, centre, 80), centre)).toBe("middle");
    expect(anchor(spot(1, 5, 1, centre, 80), centre)).toBe("start");
    expect(anchor(spot(4, 5, 1, centre, 80), centre)).toBe("end");
  });

  it("adds the drift and stays between 0 and 1", () => {
    expect(drifted([0.5, 0.95, 0.1], [0.25, 0.2, -0.2])).toEqual([0.75, 1, 0]);
    expect(drifted([0.5], [])).toEqual([0.5]);
  });
});
