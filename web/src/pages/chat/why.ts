/** What stands behind an answer, in sentences. */

import type { Answer } from "~/live/live";
import type { TurnDetails } from "~/pages/chat/turn-details";
import type { whyWords } from "~/words/why";
import type { Lang } from "~/words/words";

type Words = (typeof whyWords)[Lang];
type UserEmotion = TurnDetails["user_emotion"];

const percent = (share: number) => Math.round(100 * share);

/** One of the words for something between 0 and 1. */
export function degree(value: number, w: Words): string {
  if (value < 0.25) return w.degrees.faint;
  if (value < 0.5) return w.degrees.mild;
  return value < 0.75 ? w.degrees.clear : w.degrees.strong;
}

export function known(words: Record<string, string>, key: string): string {
  return words[key] ?? key;
}

/** "sadness, strong (88%), 90% sure" */
export function heardSentence(heard: UserEmotion, w: Words): string {
  if (heard.unavailable) return w.notHeard;
  const emotion = known(w.emotions, heard.emotion);
  const sure = heard.confidence === null ? "" : w.sure(percent(heard.confidence));
  return w.heard(emotion, degree(heard.intensity, w), percent(heard.intensity)) + sure;
}

/** From here on words are about the soul, or against it, or kind to it. */
const NOTICED = 0.3;

export function appraisalSentences({ appraisal }: UserEmotion, w: Words): string[] {
  const { toward, hostility, repair } = appraisal;
  const felt = [
    hostility >= NOTICED ? w.hostility(degree(hostility, w), percent(hostility)) : "",
    repair >= NOTICED ? w.repair(degree(repair, w), percent(repair)) : "",
  ].filter(Boolean);
  if (felt.length) return felt;
  return [toward >= NOTICED ? w.toward(percent(toward)) : w.notToward];
}

export interface SourceGroup {
  kind: string;
  names: string[];
}

const MEMORIES = ["episode", "event", "summary"];

/** The sources by their kind, without the memories, which are told with their words. */
export function sourceGroups(sources: string[]): SourceGroup[] {
  const groups = new Map<string, string[]>();
  for (const source of sources) {
    const colon = source.indexOf(":");
    const kind = colon < 0 ? source : source.slice(0, colon);
    if (MEMORIES.includes(kind)) continue;
    const names = groups.get(kind) ?? [];
    groups.set(kind, colon < 0 ? names : [...names, source.slice(colon + 1)]);
  }
  return [...groups].map(([kind, names]) => ({ kind, names }));
}

export function gateSentence(answer: Answer, w: Words): string {
  const willing = percent(answer.exec_probability);
  if (answer.exec_mode === "auto_execute") return w.acted(willing);
  const { why, helps } = answer.gate;
  return [w.didNotAct(willing), why ? w.because(why) : "", helps ? w.helps(helps) : ""].filter(Boolean).join(" ");
}

export function intentSentences(answer: Answer, w: Words): string[] {
  if (!answer.intents.length) return [known(w.decisions, answer.intent_decision.action)];
  return answer.intents.map((intent) => {
    const done = answer.executed_skills.includes(intent.intent_id);
    const outcome = done ? w.done : intent.status === "need_clarification" ? w.asked : w.refused;
    return w.intent(intent.intent_name, percent(intent.confidence), outcome, parametersOf(intent.parameters));
  });
}

function parametersOf(parameters: Record<string, unknown>): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name} = ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}

export function costSentence({ voice, usage }: Answer, w: Words): string {
  if (!usage.calls) return voice === "offline" ? w.offline : w.noCall;
  return w.cost(voice, usage.calls, usage.input_tokens, usage.output_tokens);
}

export function growthSentence(answer: Answer, w: Words): string {
  return known(w.stateUpdates, answer.state_update);
}
