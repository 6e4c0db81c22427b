import { describe, expect, it } from "vitest";

import { jsonOf } from "~/robot/topics";

import { bounded, excess, filtered, lineOf, type LogLine, MOST_LINES } from "./log-lines";

const line = (n: number, topic: string, payload = "{}"): LogLine => lineOf(n, 0, topic, payload, false)!;

describe("the log of the broker", () => {
  it("keeps the newest lines only", () => {
    const many = Array.from({ length: MOST_LINES }, (_, n) => line(n, "soul/terminal/a/heartbeat", "1"));
    const kept = bounded(many, [line(MOST_LINES, "soul/terminal/a/online", "offline")]);
    expect(kept).toHaveLength(MOST_LINES);
    expect([excess(many.slice(5), many.slice(0, 5)), excess(many, many.slice(0, 7))]).toEqual([0, 7]);
    expect(kept[0]?.n).toBe(1);
    expect(kept.at(-1)?.payload).toBe("offline");
  });

  it("is filtered by terminal, kind and text together", () => {
    const lines = [
      line(0, "soul/terminal/a/input", '{"text":"开灯"}'),
      line(1, "soul/terminal/b/input", '{"text":"开灯"}'),
      line(2, "soul/terminal/a/invoke/req-1", '{"skill":"Lamp"}'),
      line(3, "soul/terminal/a/heartbeat", "1"),
    ];
    const shown = (filter: object) =>
      filtered(lines, { terminalId: null, kinds: [], text: "", ...filter }).map(({ n }) => n);
    expect(shown({})).toEqual([0, 1, 2, 3]);
    expect(shown({ terminalId: "a" })).toEqual([0, 2, 3]);
    expect(shown({ kinds: ["invoke", "heartbeat"] })).toEqual([2, 3]);
    expect(shown({ text: "lamp" })).toEqual([2]);
    expect(shown({ terminalId: "a", text: "开灯" })).toEqual([0]);
  });

  it("takes nothing that is no terminal's", () => {
    expect(lineOf(0, 0, "home/lamp", "1", false)).toBeNull();
  });

  it("shows as a tree only what is JSON", () => {
    expect(jsonOf('{"a":1}')).toEqual({ a: 1 });
    expect(jsonOf("online")).toBeUndefined();
    expect(jsonOf("1")).toBeUndefined();
  });
});
