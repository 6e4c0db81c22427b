/** What was, what is, and what was taken back: for undo and redo. */

export interface History<T> {
  past: readonly T[];
  present: T;
  future: readonly T[];
  /** What was changed last. More of the same is one step, so that undo takes back words and not letters. */
  tag: string;
}

const MOST_STEPS = 200;

export function beginning<T>(present: T): History<T> {
  return { past: [], present, future: [], tag: "" };
}

export function change<T>(history: History<T>, present: T, tag: string): History<T> {
  if (present === history.present) return history;
  const goesOn = tag !== "" && tag === history.tag;
  const past = goesOn ? history.past : [...history.past, history.present].slice(-MOST_STEPS);
  return { past, present, future: [], tag };
}

export function undo<T>(history: History<T>): History<T> {
  const before = history.past.at(-1);
  if (before === undefined) return history;
  return { past: history.past.slice(0, -1), present: before, future: [history.present, ...history.future], tag: "" };
}

export function redo<T>(history: History<T>): History<T> {
  const [next, ...future] = history.future;
  if (next === undefined) return history;
  return { past: [...history.past, history.present], present: next, future, tag: "" };
}
