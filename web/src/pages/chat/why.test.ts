import { expect, test } from "vitest";

import type { Answer } from "~/live/live";
import { type TurnDetails, wasRefused } from "~/pages/chat/turn-details";
import {
  appraisalSentences,
  costSentence,
  gateSentence,
  heardSentence,
  intentSentences,
  sourceGroups,
} from "~/pages/chat/why";
import { whyWords } from "~/words/why";

const w = whyWords.en;

type UserEmotion = TurnDetails["user_emotion"];

function heard(more: Partial<UserEmotion> = {}, appraisal: Partial<UserEmotion["appraisal"]> = {}): UserEmotion {
  return {
    emotion: "sadness",
    p: -0.8,
    a: 0.1,
    d: -0.2,
    intensity: 0.88,
    confidence: 0.9,
    unavailable: false,
    appraisal: { toward: 0, hostility: 0, repair: 0, reasons: [], ...appraisal },
    ...more,
  };
}

const BLOCKED = {
  exec_mode: "blocked",
  reason: "hurt",
  why: "hurt by what was said",
  helps: "an apology",
  lock_remaining_s: 90,
} as const;

const LIGHT_ON = {
  intent_id: "light_on",
  intent_name: "turn on the light",
  confidence: 0.85,
  parameters: { room: "kitchen", level: 3 },
  status: "ready",
  question: null,
  why: "keyword",
} as const;

function answer(more: Partial<Answer> = {}): Answer {
  return {
    exec_mode: "auto_execute",
    exec_probability: 0.84,
    gate: { exec_mode: "auto_execute", reason: null, why: null, helps: null, lock_remaining_s: 0 },
    intents: [],
    executed_skills: [],
    intent_decision: { action: "no_action", reason: "no intents are offered" },
    voice: "offline",
    usage: { calls: 0, input_tokens: 0, output_tokens: 0 },
    ...more,
  } as Answer;
}

test("what was heard is told with how strong it was and how sure that is", () => {
  expect(heardSentence(heard(), w)).toBe("sadness, strong (88%), 90% sure");
  expect(heardSentence(heard({ intensity: 0.3, confidence: null }), w)).toBe("sadness, mild (30%)");
  expect(heardSentence(heard({ emotion: "awe" }), w)).toContain("awe");
  expect(heardSentence(heard({ unavailable: true }), w)).toBe(w.notHeard);
});

test("the appraisal tells what was against the soul, kind to it, or only about it", () => {
  expect(appraisalSentences(heard({}, { toward: 0.9, hostility: 0.8 }), w)).toEqual(["against the soul: strong (80%)"]);
  expect(appraisalSentences(heard({}, { hostility: 0.4, repair: 0.6 }), w)).toHaveLength(2);
  expect(appraisalSentences(heard({}, { toward: 0.5 }), w)).toEqual(["about the soul itself (50%)"]);
  expect(appraisalSentences(heard(), w)).toEqual([w.notToward]);
});

test("sources are told by their kind, without the memories", () => {
  const sources = ["personality", "slot:3", "slot:7", "episode:12", "event:evt_1", "preference:a:b"];
  expect(sourceGroups(sources)).toEqual([
    { kind: "personality", names: [] },
    { kind: "slot", names: ["3", "7"] },
    { kind: "preference", names: ["a:b"] },
  ]);
});

test("the gate is told with its reason and what would help", () => {
  expect(gateSentence(answer(), w)).toBe("Yes, 84% willing.");
  const closed = answer({ exec_mode: "blocked", exec_probability: 0.02, gate: BLOCKED });
  expect(gateSentence(closed, w)).toBe("No, 2% willing. Why: hurt by what was said. What would help: an apology.");
});

test("an intent is refused only if the gate was closed and something was asked for", () => {
  expect(wasRefused(answer({ exec_mode: "blocked", intents: [LIGHT_ON] }))).toBe(true);
  expect(wasRefused(answer({ exec_mode: "blocked" }))).toBe(false);
  expect(wasRefused(answer({ intents: [LIGHT_ON], executed_skills: ["light_on"] }))).toBe(false);
});

test("intents are told with what became of them and what they were given", () => {
  const done = answer({ intents: [LIGHT_ON], executed_skills: ["light_on"] });
  expect(intentSentences(done, w)).toEqual(["turn on the light (85%): done · room = kitchen, level = 3"]);
  const missing = answer({ intents: [{ ...LIGHT_ON, status: "need_clarification", parameters: {} }] });
  expect(intentSentences(missing, w)).toEqual(["turn on the light (85%): something is missing, it asked"]);
  expect(intentSentences(answer(), w)).toEqual([w.decisions.no_action]);
});

test("the cost is told in calls and tokens, and that the offline voice has none", () => {
  expect(costSentence(answer(), w)).toBe(w.offline);
  expect(costSentence(answer({ voice: "qwen" }), w)).toBe(w.noCall);
  const usage = { calls: 1, input_tokens: 1804, output_tokens: 60 };
  expect(costSentence(answer({ voice: "qwen", usage }), w)).toBe("qwen: 1 call, 1,804 tokens read, 60 said");
});
