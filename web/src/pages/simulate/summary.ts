/** What a run came to, in a few numbers. */

import type { Schemas } from "~/api/client";

type Sample = Schemas["SampleOut"];
type Cue = Schemas["CueOut"];

export interface Span {
  from: number;
  to: number;
}

export interface Summary {
  firstBlocked: { at: number; step: number | null } | null;
  blocked: Span[];
  locked: Span[];
  lowestPleasure: number;
  last: Sample | undefined;
}

export function summaryOf(samples: Sample[], cues: Cue[]): Summary {
  const blocked = spans(samples, (sample) => sample.exec_mode === "blocked");
  const first = blocked[0];
  const step = first ? cues.findLastIndex((cue) => cue.at <= first.from + 1e-6) : -1;
  return {
    firstBlocked: first ? { at: first.from, step: step < 0 ? null : step + 1 } : null,
    blocked,
    locked: spans(samples, (sample) => sample.locked),
    lowestPleasure: Math.min(...samples.map((sample) => sample.p)),
    last: samples.at(-1),
  };
}

/** Every period in which `holds`; one ends at the first sample that does not. */
export function spans(samples: Sample[], holds: (sample: Sample) => boolean): Span[] {
  const found: Span[] = [];
  let from: number | null = null;
  for (const sample of samples) {
    if (holds(sample)) from ??= sample.at;
    else if (from !== null) {
      found.push({ from, to: sample.at });
      from = null;
    }
  }
  if (from !== null) found.push({ from, to: samples.at(-1)?.at ?? from });
  return found;
}
