import { describe, expect, it } from "vitest";

import { drawing, type Graph, inOrder, pathOf } from "./layout";

const graph = (name: Graph["name"], edges: string[]): Graph => {
  const pairs = edges.map((edge) => edge.split(">") as [string, string]);
  const ids = [...new Set(pairs.flat())];
  return {
    name,
    nodes: ids.map((id) => ({ id, subgraph: id === "tool_loop" ? id : null })),
    edges: pairs.map(([source, target]) => ({ source, target, conditional: source === "gate" })),
  };
};

const TURN = graph("turn", [
  "__start__>gate",
  "gate>act",
  "gate>tool_loop",
  "tool_loop>write",
  "act>write",
  "write>__end__",
]);
const LOOP = graph("tool_loop", ["__start__>model", "model>tools", "tools>model", "model>__end__"]);

describe("the drawing of a graph", () => {
  const drawn = drawing([TURN, LOOP], "turn");
  const node = (key: string) => drawn.nodes.find((one) => one.key === key)!;

  it("runs from top to bottom, in the order of a run", () => {
    const way = ["__start__", "gate", "tool_loop", "write", "__end__"].map((id) => node(`turn/${id}`).y);
    expect(way).toEqual([...way].sort((a, b) => a - b));
    expect(new Set(way).size).toBe(way.length);
  });

  it("has no two nodes on top of each other", () => {
    const outer = drawn.nodes.filter(({ parent }) => !parent);
    for (const a of outer) {
      for (const b of outer.filter((other) => other !== a)) {
        const apart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
        expect(apart, `${a.key} ${b.key}`).toBe(true);
      }
    }
  });

  it("has the tool loop inside its node, without its start and end", () => {
    const group = node("turn/tool_loop");
    expect(group.kind).toBe("group");
    const inside = drawn.nodes.filter(({ parent }) => parent === group.key);
    expect(inside.map(({ key }) => key).sort()).toEqual(["tool_loop/model", "tool_loop/tools"]);
    for (const one of inside) {
      expect(one.x).toBeGreaterThanOrEqual(0);
      expect(one.x + one.width).toBeLessThanOrEqual(group.width);
      expect(one.y + one.height).toBeLessThanOrEqual(group.height);
    }
  });

  it("has every edge between nodes that are drawn, also the way back", () => {
    expect(drawn.edges.map(({ key }) => key)).toContain("tool_loop/tools>model");
    const keys = new Set(drawn.nodes.map(({ key }) => key));
    for (const edge of drawn.edges) {
      expect(keys.has(edge.source) && keys.has(edge.target), edge.key).toBe(true);
      expect(edge.points.length).toBeGreaterThan(1);
    }
  });

  it("is empty for a graph that there is not", () => {
    expect(drawing([TURN], "proactive").nodes).toEqual([]);
  });
});

describe("a graph in words", () => {
  it("names each node once, from the start to the end", () => {
    const drawn = drawing([TURN, LOOP], "turn");
    expect(inOrder(drawn)).toEqual(["__start__", "gate", "tool_loop", "act", "write", "__end__"]);
    expect(inOrder(drawn, "turn/tool_loop")).toEqual(["model", "tools"]);
  });

  it("has lines that begin and end at their points", () => {
    expect(pathOf([{ x: 0, y: 0 }, { x: 5, y: 5 }, { x: 10, y: 0 }])).toBe("M 0 0 Q 5 5 7.5 2.5 L 10 0");
    expect(pathOf([])).toBe("");
  });
});
