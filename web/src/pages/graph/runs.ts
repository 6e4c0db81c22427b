/** What the notices about nodes say of runs: which nodes ran, when, for how long, and what came of them. */

import type { NodeEvent } from "~/live/live";
import { END, keyOf, START } from "~/pages/graph/layout";

export interface Span {
  key: string;
  graph: string;
  node: string;
  /** Milliseconds since the run began. */
  start: number;
  /** Null while it runs. */
  ms: number | null;
  failed: boolean;
  update: unknown;
}

export type Status = "running" | "done" | "failed";

export interface Run {
  id: string;
  /** The graph that ran; a tool loop belongs to its turn. */
  graph: string;
  turnId: string | null;
  sessionId: string | null;
  /** The first words of what the turn answers; of what follows a turn those of the turn. */
  words: string;
  /** Epoch milliseconds. */
  startedAt: number;
  spans: Span[];
}

const mainGraph = (graph: string) => (graph === "tool_loop" ? "turn" : graph);

/** Only owners hear what a node returned; that it failed is told to everybody who hears of it. */
type Told = NodeEvent & { text?: string; failed?: boolean };

/** The oldest first. */
export function runsOf(events: readonly Told[]): Run[] {
  const runs: Run[] = [];
  const current = new Map<string, Run>();
  const words = new Map<string, string>();
  for (const event of events) {
    if (event.text) words.set(event.turn_id, event.text);
    const place = `${mainGraph(event.graph)} ${event.turn_id ?? ""} ${event.session_id ?? ""}`;
    let run = current.get(place);
    if (!run || beginsAnew(run, event)) {
      run = newRun(event, words.get(event.turn_id) ?? "");
      runs.push(run);
      current.set(place, run);
    }
    take(run, event);
  }
  return runs;
}

/** Runs without a turn, such as whether a soul speaks up, are told apart by their first node; so is a second try. */
function beginsAnew(run: Run, event: Told): boolean {
  const first = run.spans[0];
  return event.phase === "start" && event.graph === run.graph && first?.node === event.node && !isRunning(run);
}

function newRun(event: Told, words: string): Run {
  const at = Date.parse(event.at);
  return {
    id: `${mainGraph(event.graph)} ${event.turn_id ?? ""} ${event.at}`,
    graph: mainGraph(event.graph),
    turnId: event.turn_id ?? null,
    sessionId: event.session_id ?? null,
    words,
    startedAt: event.phase === "end" ? at - (event.ms ?? 0) : at,
    spans: [],
  };
}

function take(run: Run, event: Told): void {
  const key = keyOf(event.graph, event.node);
  const since = Date.parse(event.at) - run.startedAt;
  if (event.phase === "start") {
    const begun = { start: since, ms: null, failed: false, update: undefined };
    run.spans.push({ key, graph: event.graph, node: event.node, ...begun });
    return;
  }
  const begun = run.spans.findLast((span) => span.key === key && span.ms === null);
  const ended = { ms: event.ms ?? 0, failed: event.failed ?? false, update: event.update };
  if (begun) Object.assign(begun, ended);
  else {
    const start = Math.max(0, since - ended.ms); // its beginning was before we listened
    run.spans.push({ key, graph: event.graph, node: event.node, start, ...ended });
  }
}

export function isRunning(run: Run): boolean {
  return run.spans.some(({ ms }) => ms === null);
}

/** From its first node to the end of its last, in milliseconds; a run that is not over ends now. */
export function lengthOf(run: Run, now: number): number {
  const ends = run.spans.map(({ start, ms }) => (ms === null ? now - run.startedAt : start + ms));
  return Math.max(1, ...ends);
}

export interface Bar {
  span: Span;
  /** Both in percent of the whole run. */
  left: number;
  width: number;
  ms: number;
}

export function barsOf(run: Run, now: number): Bar[] {
  const whole = lengthOf(run, now);
  return run.spans.map((span) => {
    const ms = span.ms ?? Math.max(0, now - run.startedAt - span.start);
    const left = Math.min(100, (100 * span.start) / whole);
    return { span, left, width: Math.min(100 - left, (100 * ms) / whole), ms };
  });
}

export interface Visit {
  status: Status;
  times: number;
  ms: number;
}

/** How each node fared in a run, by its key. */
export function visitsOf(run: Run | undefined): Map<string, Visit> {
  const visits = new Map<string, Visit>();
  for (const span of run?.spans ?? []) {
    const before = visits.get(span.key);
    const ms = (before?.ms ?? 0) + (span.ms ?? 0);
    visits.set(span.key, { status: statusOf(span), times: (before?.times ?? 0) + 1, ms });
  }
  return visits;
}

export function statusOf({ ms, failed }: Span): Status {
  if (ms === null) return "running";
  return failed ? "failed" : "done";
}

/** What went wrong, in the server's words; empty for those who do not hear it. */
export function errorOf({ failed, update }: Span): string {
  const error = failed && typeof update === "object" && update !== null && "error" in update ? update.error : "";
  return typeof error === "string" ? error : JSON.stringify(error);
}

/** A state is told by a sign too, and not by its colour alone. */
export const SIGNS: Record<Status, string> = { running: "▶", done: "✓", failed: "✕" };

/** The edges that a run has gone, by the keys of the drawing. */
export function edgesOf(run: Run | undefined): Set<string> {
  const gone = new Set<string>();
  const last = new Map<string, string>();
  for (const { graph, node } of run?.spans ?? []) {
    gone.add(`${graph}/${last.get(graph) ?? START}>${node}`);
    last.set(graph, node);
  }
  if (run && !isRunning(run)) for (const [graph, node] of last) gone.add(`${graph}/${node}>${END}`);
  return gone;
}

/** 0.4 → "0.4 ms", 1234 → "1.23 s" */
export function timeText(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}
