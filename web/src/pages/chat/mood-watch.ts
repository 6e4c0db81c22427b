/** Finds out that something has turned a soul's mood, which by itself moves slowly from tick to tick. */

interface Mood {
  p: number;
  a: number;
  d: number;
  /** Epoch milliseconds. */
  at: number;
}

export interface MoodWatch {
  last: Mood | null;
  /** What it was before it was turned by something that is not known yet. */
  before: Mood | null;
  turnedAt: number;
}

export const UNKNOWN_MOOD: MoodWatch = { last: null, before: null, turnedAt: 0 };

/** No mood moves so far between two ticks by itself. */
const LEAP = 0.05;
/** Two moods further apart are no neighbours: the page slept, or the connection was lost. */
const NEIGHBOURS_MS = 15_000;
/** A turn of a conversation that is ours to know is told by then. */
const TOLD_MS = 60_000;

const distance = (one: Mood, other: Mood) =>
  Math.max(Math.abs(one.p - other.p), Math.abs(one.a - other.a), Math.abs(one.d - other.d));

/** The mood is so now; `own`: a turn of ours is running, which explains it. `unexplained`: nobody has told why for long. */
export function feel(watch: MoodWatch, mood: Mood, own: boolean): { watch: MoodWatch; unexplained: boolean } {
  const { last, before } = watch;
  const leapt = last !== null && mood.at - last.at <= NEIGHBOURS_MS && distance(last, mood) >= LEAP;
  if (leapt && !own && !before) return { watch: { last: mood, before: last, turnedAt: mood.at }, unexplained: false };
  const waited = before !== null && mood.at - watch.turnedAt > TOLD_MS;
  const next = { ...watch, last: mood, before: waited ? null : before };
  // What a turn has done that then failed was taken back.
  return { watch: next, unexplained: waited && distance(before, mood) >= LEAP };
}

export function isTurned(watch: MoodWatch): boolean {
  return watch.before !== null;
}

/** Somebody has told of a turn: that was it. */
export function explained(watch: MoodWatch): MoodWatch {
  return { ...watch, before: null };
}
