import { describe, expect, it } from "vitest";

import type { NodeEvent } from "~/live/live";

import { barsOf, edgesOf, errorOf, isRunning, lengthOf, runsOf, timeText, visitsOf } from "./runs";

const T0 = Date.parse("2026-11-17T09:00:00.000Z");

function event(graph: string, node: string, phase: "start" | "end", at: number, more: object = {}): NodeEvent {
  const ids = { turn_id: "turn_1", session_id: "s", soul_id: "soul" };
  return { graph, node, phase, at: new Date(T0 + at).toISOString(), ...ids, ...more };
}

const TURN = [
  event("turn", "emotion", "start", 0),
  event("turn", "emotion", "end", 20, { ms: 20, update: { user_emotion: {} } }),
  event("turn", "tool_loop", "start", 20),
  event("tool_loop", "model", "start", 25),
  event("tool_loop", "model", "end", 125, { ms: 100 }),
  event("tool_loop", "tools", "start", 125),
  event("tool_loop", "tools", "end", 130, { ms: 5 }),
  event("tool_loop", "model", "start", 130),
  event("tool_loop", "model", "end", 180, { ms: 50 }),
  event("turn", "tool_loop", "end", 180, { ms: 160 }),
];

describe("runs", () => {
  it("join a turn and its tool loop", () => {
    const runs = runsOf(TURN);
    expect(runs).toHaveLength(1);
    expect(runs[0]).toMatchObject({ graph: "turn", turnId: "turn_1", startedAt: T0 });
    expect(runs[0]!.spans.map(({ key }) => key)).toEqual([
      "turn/emotion",
      "turn/tool_loop",
      "tool_loop/model",
      "tool_loop/tools",
      "tool_loop/model",
    ]);
  });

  it("keep the afterglow of a turn apart from it", () => {
    const runs = runsOf([...TURN, event("afterglow", "propose", "start", 300)]);
    expect(runs.map(({ graph }) => graph)).toEqual(["turn", "afterglow"]);
    expect(isRunning(runs[0]!)).toBe(false);
    expect(isRunning(runs[1]!)).toBe(true);
  });

  it("are known by the first words of their turn, also what follows it", () => {
    const said = TURN.map((one) => ({ ...one, text: "Are you awake?" }));
    const runs = runsOf([...said, event("afterglow", "propose", "start", 300)]);
    expect(runs.map(({ words }) => words)).toEqual(["Are you awake?", "Are you awake?"]);
  });

  it("tell runs without a turn apart by their first node", () => {
    const none = { turn_id: null, session_id: null };
    const proactive = [0, 1000].flatMap((at) => [
      event("proactive", "consider", "start", at, none),
      event("proactive", "consider", "end", at + 5, { ms: 5, ...none }),
      event("proactive", "stay_silent", "start", at + 5, none),
      event("proactive", "stay_silent", "end", at + 6, { ms: 1, ...none }),
    ]);
    const runs = runsOf(proactive);
    expect(runs.map(({ spans }) => spans.length)).toEqual([2, 2]);
    expect(new Set(runs.map(({ id }) => id)).size).toBe(2);
  });

  it("take an end whose beginning was not heard", () => {
    const run = runsOf([event("turn", "writeback", "end", 40, { ms: 40 })])[0]!;
    expect(run.startedAt).toBe(T0);
    expect(run.spans).toEqual([
      { key: "turn/writeback", graph: "turn", node: "writeback", start: 0, ms: 40, failed: false, update: undefined },
    ]);
  });
});

describe("the waterfall", () => {
  it("has bars that begin and end where the nodes did", () => {
    const bars = barsOf(runsOf(TURN)[0]!, T0 + 9999);
    expect(lengthOf(runsOf(TURN)[0]!, T0 + 9999)).toBe(180);
    expect(bars[0]).toMatchObject({ left: 0, ms: 20 });
    expect(bars[0]!.width).toBeCloseTo(11.1, 1);
    expect(bars[1]!.left + bars[1]!.width).toBeCloseTo(100, 5);
  });

  it("grows with the clock while a node runs", () => {
    const run = runsOf(TURN.slice(0, 4))[0]!;
    expect(lengthOf(run, T0 + 50)).toBe(50);
    const model = barsOf(run, T0 + 50).at(-1)!;
    expect(model).toMatchObject({ left: 50, width: 50, ms: 25 });
  });

  it("says times shortly", () => {
    expect([0.42, 14.6, 1234].map(timeText)).toEqual(["0.4 ms", "15 ms", "1.23 s"]);
  });
});

describe("what is lit in the drawing", () => {
  it("counts how often a node ran, and for how long together", () => {
    const visits = visitsOf(runsOf(TURN)[0]);
    expect(visits.get("tool_loop/model")).toEqual({ status: "done", times: 2, ms: 150 });
    expect(visits.has("turn/gate")).toBe(false);
  });

  it("shows what runs and what failed", () => {
    const broken = event("turn", "tool_loop", "end", 30, { ms: 10, failed: true, update: { error: "too slow" } });
    const run = runsOf([...TURN.slice(0, 3), broken]);
    expect(visitsOf(runsOf(TURN.slice(0, 4))[0]).get("tool_loop/model")?.status).toBe("running");
    expect(visitsOf(run[0]).get("turn/tool_loop")?.status).toBe("failed");
    expect(errorOf(run[0]!.spans[1]!)).toBe("too slow");
    const outside = runsOf([event("turn", "gate", "end", 3, { ms: 3, failed: true })])[0]!;
    expect(visitsOf(outside).get("turn/gate")?.status).toBe("failed");
    expect(errorOf(outside.spans[0]!)).toBe("");
  });

  it("follows the way of the run, inside the loop and to its end", () => {
    expect([...edgesOf(runsOf(TURN)[0])]).toEqual([
      "turn/__start__>emotion",
      "turn/emotion>tool_loop",
      "tool_loop/__start__>model",
      "tool_loop/model>tools",
      "tool_loop/tools>model",
      "turn/tool_loop>__end__",
      "tool_loop/model>__end__",
    ]);
  });

  it("has no end while it runs, and nothing without a run", () => {
    expect([...edgesOf(runsOf(TURN.slice(0, 1))[0])]).toEqual(["turn/__start__>emotion"]);
    expect(edgesOf(undefined).size).toBe(0);
  });
});
