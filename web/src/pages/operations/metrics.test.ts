import { describe, expect, it } from "vitest";

import { figuresOf, total } from "./metrics";

const TEXT = `# HELP soulgraph_turns_total Turns by outcome
# TYPE soulgraph_turns_total counter
soulgraph_turns_total{outcome="ok"} 41.0
soulgraph_turns_total{outcome="model \\"x\\" away"} 2.0
soulgraph_souls_ticked_total 7.0
soulgraph_turns_running 1e3
`;

describe("figures", () => {
  it("are read with their labels, and comments are not", () => {
    expect(figuresOf(TEXT)).toHaveLength(4);
    expect(figuresOf(TEXT)[1]).toEqual({
      name: "soulgraph_turns_total",
      labels: { outcome: 'model "x" away' },
      value: 2,
    });
  });

  it("are added up by name and label", () => {
    const figures = figuresOf(TEXT);
    expect(total(figures, "soulgraph_turns_total")).toBe(43);
    expect(total(figures, "soulgraph_turns_total", ({ outcome }) => outcome !== "ok")).toBe(2);
    expect(total(figures, "soulgraph_turns_running")).toBe(1000);
    expect(total(figures, "nothing")).toBe(0);
  });
});
