import { describe, expect, it } from "vitest";

import { hear, NEWBORN } from "~/robot/hearing";
import { isTerminalId, placeOf } from "~/robot/topics";

const place = (kind: string) => placeOf(`soul/terminal/studio-robot/${kind}`)!;

describe("what the robot hears", () => {
  it("shows an emotion as its face", () => {
    const update = {
      soul_emotion: { p: 0.4, a: -0.2, d: 0.1, boredom: 0 },
      exec_probability: 0.8,
      exec_mode: "auto_execute",
      gate: {},
    };
    const { state, answers } = hear(NEWBORN, place("emotion_update"), update);
    expect(state.mood).toEqual({ p: 0.4, a: -0.2, d: 0.1, acts: true, probability: 0.8, why: null });
    expect(answers).toEqual([]);
  });

  it("carries out several intents in their order", () => {
    const intents = [
      { intent_id: "lamp_on", intent_name: "开灯", parameters: {} },
      { intent_id: "lamp_colour", intent_name: "变色", parameters: { colour: "红色" } },
      { intent_id: "dance", intent_name: "跳舞", parameters: {} },
    ];
    const { state } = hear(NEWBORN, place("intent_action"), { intents });
    expect(state.body).toMatchObject({ lamp: true, colour: "red" });
    expect(state.deeds.map(({ deed }) => deed)).toEqual(["lamp_on", "lamp_colour", "unknown"]);
  });

  it("answers a skill under the id of the request", () => {
    const { state, answers } = hear(NEWBORN, place("invoke/req-7"), {
      request_id: "req-7",
      skill: "set_lamp",
      arguments: { on: true },
    });
    expect(state.body.lamp).toBe(true);
    expect(answers).toEqual([
      {
        levels: ["result", "req-7"],
        payload: {
          request_id: "req-7",
          ok: true,
          output: { lamp: "on", colour: "warm", arm: "down", looks: "ahead" },
        },
      },
    ]);
  });

  it("waits for a reply until it comes, and tells a problem instead of silence", () => {
    const asked = { ...NEWBORN, waiting: ["a", "b"] };
    const replied = hear(asked, place("reply"), { input_id: "a", text: "好的" }).state;
    expect(replied.waiting).toEqual(["b"]);
    expect(replied.bubble).toEqual({ kind: "reply", text: "好的" });
    const problem = { code: "soul_not_selected", detail: "no soul" };
    const refused = hear(replied, place("reply"), { input_id: "b", text: "", problem });
    expect(refused.state.bubble).toEqual({ kind: "problem", text: "no soul" });
    expect(refused.state.waiting).toEqual([]);
  });

  it("forgets the face of another soul when it is given a new one", () => {
    const mood = { p: 1, a: 0, d: 0, acts: true, probability: 1, why: null };
    const before = { ...NEWBORN, mood, soulId: "one" };
    expect(hear(before, place("status"), { bound: true, soul_id: "one" }).state.mood).toBe(mood);
    const after = hear(before, place("status"), { bound: true, soul_id: "two", soul_name: "Two" }).state;
    expect(after).toMatchObject({ mood: null, soulId: "two", soulName: "Two", bound: true });
  });

  it("ignores what it did not ask for", () => {
    expect(hear(NEWBORN, place("skills"), { skills: [] })).toEqual({ state: NEWBORN, answers: [] });
  });
});

describe("topics", () => {
  it("are read into terminal, kind and the rest", () => {
    expect(placeOf("soul/terminal/desk/invoke/req/1")).toEqual({ terminalId: "desk", kind: "invoke", rest: "req/1" });
    expect(placeOf("soul/terminal/desk")).toBeNull();
    expect(placeOf("home/lamp/on/1")).toBeNull();
  });

  it("have ids of letters, digits and a few signs", () => {
    expect(["studio-robot", "机器人-2", "a.b:c@d_e"].filter(isTerminalId)).toHaveLength(3);
    expect(["", "a b", "a/b", "+", "#", "x".repeat(129)].filter(isTerminalId)).toEqual([]);
  });
});
