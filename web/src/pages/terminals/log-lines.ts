/** The lines of the log of the broker: bounded, and filtered by terminal, kind and text. */

import { placeOf } from "~/robot/topics";

export interface LogLine {
  n: number;
  at: number;
  topic: string;
  terminalId: string;
  kind: string;
  payload: string;
  retained: boolean;
}

export interface LogFilter {
  terminalId: string | null;
  /** None means all. */
  kinds: readonly string[];
  text: string;
}

export const MOST_LINES = 2_000;

/** Null for a topic that is no terminal's. */
export function lineOf(n: number, at: number, topic: string, payload: string, retained: boolean): LogLine | null {
  const place = placeOf(topic);
  return place && { n, at, topic, terminalId: place.terminalId, kind: place.kind, payload, retained };
}

export function bounded(lines: readonly LogLine[], more: readonly LogLine[]): LogLine[] {
  return [...lines, ...more].slice(-MOST_LINES);
}

/** How many of them are too many. */
export function excess(lines: readonly LogLine[], more: readonly LogLine[]): number {
  return Math.max(0, lines.length + more.length - MOST_LINES);
}

export function filtered(lines: readonly LogLine[], { terminalId, kinds, text }: LogFilter): LogLine[] {
  const wanted = text.trim().toLowerCase();
  return lines.filter(
    (line) =>
      (terminalId === null || line.terminalId === terminalId) &&
      (kinds.length === 0 || kinds.includes(line.kind)) &&
      (wanted === "" || line.payload.toLowerCase().includes(wanted) || line.topic.toLowerCase().includes(wanted)),
  );
}
