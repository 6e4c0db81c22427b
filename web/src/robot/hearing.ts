/** What the robot makes of the messages that it hears, and what it answers. */

import { act, AT_REST, type Body, type Deed, type IntentCall, use } from "~/robot/body";
import type { Place } from "~/robot/topics";

export interface Mood {
  p: number;
  a: number;
  d: number;
  acts: boolean;
  probability: number;
  why: string | null;
}

export interface Bubble {
  kind: "reply" | "proactive" | "problem";
  text: string;
}

export interface RobotState {
  body: Body;
  mood: Mood | null;
  bubble: Bubble | null;
  /** The inputs that were not answered yet. */
  waiting: readonly string[];
  /** What it did last, for those who do not see it. */
  deeds: readonly { deed: Deed; name: string }[];
  /** Null until the server has told it. */
  bound: boolean | null;
  soulId: string | null;
  soulName: string | null;
  problem: string | null;
}

export const NEWBORN: RobotState = {
  body: AT_REST,
  mood: null,
  bubble: null,
  waiting: [],
  deeds: [],
  bound: null,
  soulId: null,
  soulName: null,
  problem: null,
};

/** A message that is to be sent on a topic of the robot. */
export interface Saying {
  levels: string[];
  payload: Record<string, unknown>;
}

export interface Heard {
  state: RobotState;
  answers: Saying[];
}

type Payload = Record<string, unknown>;

export function hear(state: RobotState, place: Place, payload: Payload): Heard {
  switch (place.kind) {
    case "emotion_update":
      return quietly({ ...state, mood: moodOf(payload) });
    case "intent_action":
      return quietly(carriedOut(state, payload.intents as IntentCall[]));
    case "invoke":
      return invoked(state, place.rest, payload);
    case "reply":
      return quietly(replied(state, payload));
    case "proactive":
      return quietly({ ...state, bubble: { kind: "proactive", text: String(payload.text) } });
    case "status":
      return quietly(informed(state, payload));
    default:
      return quietly(state);
  }
}

function quietly(state: RobotState): Heard {
  return { state, answers: [] };
}

function moodOf(payload: Payload): Mood {
  const { p, a, d } = payload.soul_emotion as { p: number; a: number; d: number };
  const gate = payload.gate as { why?: string | null } | undefined;
  return {
    p,
    a,
    d,
    acts: payload.exec_mode === "auto_execute",
    probability: Number(payload.exec_probability),
    why: gate?.why ?? null,
  };
}

function carriedOut(state: RobotState, intents: IntentCall[]): RobotState {
  let body = state.body;
  const deeds = intents.map((intent) => {
    const done = act(body, intent);
    body = done.body;
    return { deed: done.deed, name: intent.intent_name };
  });
  return { ...state, body, deeds };
}

function invoked(state: RobotState, requestId: string, payload: Payload): Heard {
  const { body, result } = use(state.body, String(payload.skill), (payload.arguments ?? {}) as Payload);
  const answer = { levels: ["result", requestId], payload: { request_id: requestId, ...result } };
  return { state: { ...state, body }, answers: [answer] };
}

function replied(state: RobotState, payload: Payload): RobotState {
  const problem = payload.problem as { detail: string } | undefined;
  const bubble: Bubble = problem
    ? { kind: "problem", text: problem.detail }
    : { kind: "reply", text: String(payload.text) };
  return { ...state, bubble, waiting: state.waiting.filter((inputId) => inputId !== payload.input_id) };
}

function informed(state: RobotState, payload: Payload): RobotState {
  const soulId = payload.soul_id ? String(payload.soul_id) : null;
  return {
    ...state,
    bound: Boolean(payload.bound),
    soulId,
    soulName: payload.soul_name ? String(payload.soul_name) : null,
    mood: soulId === state.soulId ? state.mood : null,
    problem: (payload.problem as { detail: string } | undefined)?.detail ?? null,
  };
}
