/** The script of a simulation as a person writes it, and as the server takes it. */

import { arrayMove } from "@dnd-kit/sortable";

import type { Schemas } from "~/api/client";
import { newId } from "~/ids";
import type { Lang } from "~/words/words";

type Emotion = NonNullable<Schemas["ScriptEntry"]["emotion"]>;
export type What = typeof SAY | Emotion;

export interface Step {
  id: string;
  at: string;
  /** `say`, or the emotion that is shown. */
  what: What;
  words: string;
  intensity: string;
}

export interface Faults {
  at?: boolean;
  words?: boolean;
  intensity?: boolean;
}

export const SAY = "say";
/** What a step can be beside a sentence: what is meant for the soul, and plain feelings. */
export const EMOTIONS: readonly Emotion[] = [
  "insult",
  "apology",
  "praise",
  "anger",
  "sadness",
  "fear",
  "joy",
  "gratitude",
  "calm",
  "neutral",
];

const LONGEST_S = 1e9;
const UNITS: Record<string, number> = { d: 86400, h: 3600, m: 60, s: 1 };

/** The seconds of a time like 90, 8s or 1m30s; null if it is none. */
export function secondsOf(text: string): number | null {
  const trimmed = text.trim();
  const parts = [...trimmed.matchAll(/(\d+(?:\.\d+)?)\s*([dhms])\s*/g)];
  const isTime = parts.length > 0 && parts.map((part) => part[0]).join("") === trimmed;
  const seconds = isTime
    ? parts.reduce((sum, part) => sum + Number(part[1]) * (UNITS[part[2] ?? "s"] ?? 1), 0)
    : /^\d+(\.\d+)?$/.test(trimmed)
      ? Number(trimmed)
      : Number.NaN;
  return seconds >= 0 && seconds <= LONGEST_S ? seconds : null;
}

/** 95 → 1m35s: by its two largest units, as the server writes it. */
export function spanName(seconds: number): string {
  let left = Math.round(seconds);
  const parts = [];
  for (const [unit, size] of Object.entries(UNITS)) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count) parts.push(`${count}${unit}`);
  }
  return parts.slice(0, 2).join("") || "0s";
}

export function faultsOf(step: Step): Faults {
  const intensity = Number(step.intensity);
  return {
    at: secondsOf(step.at) === null,
    words: step.what === SAY && !step.words.trim(),
    intensity: step.what !== SAY && step.intensity !== "" && !(intensity >= 0 && intensity <= 1),
  };
}

export function isSound(steps: Step[], until: string): boolean {
  const sound = steps.every((step) => !Object.values(faultsOf(step)).some(Boolean));
  return steps.length > 0 && sound && (until.trim() === "" || secondsOf(until) !== null);
}

/** The body of `POST /v1/simulate`. */
export function requestOf(types: string[], steps: Step[], until: string): Schemas["Simulation"] {
  const entries = steps.map((step) =>
    step.what === SAY
      ? { at: step.at.trim(), say: step.words.trim() }
      : { at: step.at.trim(), emotion: step.what, ...(step.intensity && { intensity: Number(step.intensity) }) },
  );
  return { mbti_types: types, entries, ...(until.trim() && { until: until.trim() }) };
}

export function newStep(at: string, words = "", what: What = SAY): Step {
  return { id: newId("step-"), at, what, words, intensity: "" };
}

/** What happens is put in another place. The times stay in theirs: they are the order in which the script is played. */
export function moved(steps: Step[], id: string, over: string): Step[] {
  const ids = steps.map((step) => step.id);
  const [from, to] = [ids.indexOf(id), ids.indexOf(over)];
  if (from < 0 || to < 0) return steps;
  return arrayMove(steps, from, to).map((step, place) => ({ ...step, at: steps[place]?.at ?? step.at }));
}

export const PAUSE_S = 8;

/** The same once more, behind it: between it and the next one, or a little later than the last. */
export function doubled(steps: Step[], id: string): Step[] {
  const place = steps.findIndex((step) => step.id === id);
  const step = steps[place];
  if (!step) return steps;
  return steps.toSpliced(place + 1, 0, { ...step, id: newId("step-"), at: timeBetween(step.at, steps[place + 1]?.at) });
}

function timeBetween(before: string, after: string | undefined): string {
  const from = secondsOf(before);
  const to = after === undefined ? (from ?? 0) + 2 * PAUSE_S : secondsOf(after);
  if (from === null || to === null) return before;
  const between = spanName((from + to) / 2);
  const seconds = secondsOf(between) ?? from; // of long times only the two largest units are written
  return from <= seconds && seconds <= to ? between : before;
}

/** Sentences nobody has to think up before a first plot is seen. */
export const PRESETS: Record<"insults" | "grief" | "joy" | "silence", Record<Lang, [string, string][]>> = {
  insults: {
    en: [
      ["8s", "You are so stupid."],
      ["16s", "Shut up, you are completely useless."],
      ["24s", "I hate you. Get lost!"],
      ["32s", "You worthless piece of junk, nobody wants you."],
      ["1m", "I am so sorry. That was unfair of me, please forgive me."],
    ],
    zh: [
      ["8s", "你真笨。"],
      ["16s", "闭嘴，你一点用都没有。"],
      ["24s", "我讨厌你，滚开！"],
      ["32s", "你这个没人要的废物。"],
      ["1m", "对不起，刚才是我不对，原谅我好吗？"],
    ],
  },
  grief: {
    en: [
      ["10s", "My grandmother died last night."],
      ["30s", "I keep thinking that I should have called her."],
      ["50s", "I miss her so much."],
      ["2m", "Thank you for listening to me."],
    ],
    zh: [
      ["10s", "我奶奶昨晚去世了。"],
      ["30s", "我一直在想，要是早点给她打电话就好了。"],
      ["50s", "我好想她。"],
      ["2m", "谢谢你听我说。"],
    ],
  },
  joy: {
    en: [
      ["5s", "I got the job!"],
      ["10s", "I am so happy I could dance!"],
      ["15s", "This is the best day of my life!"],
      ["20s", "We will celebrate all night!"],
      ["25s", "I love you, I could hug the whole world!"],
    ],
    zh: [
      ["5s", "我拿到那份工作了！"],
      ["10s", "太开心了，我想跳舞！"],
      ["15s", "今天是我这辈子最好的一天！"],
      ["20s", "今晚我们要庆祝一整夜！"],
      ["25s", "我爱你，我想拥抱全世界！"],
    ],
  },
  silence: { en: [["30d", "Are you still there?"]], zh: [["30d", "你还在吗？"]] },
};

export function preset(name: keyof typeof PRESETS, lang: Lang): Step[] {
  return PRESETS[name][lang].map(([at, words]) => newStep(at, words));
}
