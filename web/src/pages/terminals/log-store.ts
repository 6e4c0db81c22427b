/** The log of the broker: what has gone over it since it was opened, kept while this tab is. */

import type { MqttClient } from "mqtt";
import { create } from "zustand";

import { useKey } from "~/api/key";
import { bounded, excess, lineOf, type LogLine } from "~/pages/terminals/log-lines";
import { connectBroker } from "~/robot/broker";
import { RETAINED } from "~/robot/topics";

export type LogConnection = "connecting" | "connected" | "down";

interface LogStore {
  connection: LogConnection;
  problem: string | null;
  lines: LogLine[];
  /** What came while the log was paused. */
  held: LogLine[];
  paused: boolean;
  /** How many were too many to be kept. */
  dropped: number;
}

const EMPTY = { lines: [], held: [], paused: false, dropped: 0, problem: null };

export const useLog = create<LogStore>(() => ({ connection: "connecting", ...EMPTY }));

/** What one key may see is not another's. */
useKey.subscribe((now, before) => {
  if (now.key !== before.key) useLog.setState(EMPTY);
});

let client: MqttClient | null = null;
let number = 0;
let unshown: LogLine[] = [];

/** Listen to these topics; the answer ends it. */
export function openLog(topics: string[]): () => void {
  let ended = false;
  useLog.setState({ connection: "connecting", problem: null });
  const refused = (problem: string) => useLog.setState({ problem });
  void connectBroker({ refused }).then((connected) => {
    if (ended) return void connected.end(true);
    client = connected;
    connected.on("connect", () => void subscribed(connected, topics));
    connected.on("close", () => !ended && useLog.setState({ connection: "down" }));
    connected.on("error", ({ message }) => refused(message));
    connected.on("message", (topic, bytes, packet) => received(topic, bytes, packet.retain));
  });
  return () => {
    ended = true;
    client?.end();
    client = null;
  };
}

async function subscribed(connected: MqttClient, topics: string[]): Promise<void> {
  try {
    await connected.subscribeAsync(topics, { qos: 0 });
    useLog.setState({ connection: "connected", problem: null });
  } catch (error) {
    useLog.setState({ problem: String(error) });
  }
}

/** Messages may come by the hundred: they are shown with the next frame of the screen. */
function received(topic: string, bytes: Uint8Array, retained: boolean): void {
  const line = lineOf(number++, Date.now(), topic, new TextDecoder().decode(bytes), retained);
  if (!line) return;
  if (unshown.length === 0) requestAnimationFrame(show);
  unshown.push(line);
}

function show(): void {
  const more = unshown;
  unshown = [];
  useLog.setState(({ paused, lines, held, dropped }) =>
    paused
      ? { held: bounded(held, more), dropped: dropped + excess(held, more) }
      : { lines: bounded(lines, more), dropped: dropped + excess(lines, more) },
  );
}

export function setPaused(paused: boolean): void {
  useLog.setState(({ lines, held, dropped }) => ({
    paused,
    lines: bounded(lines, held),
    held: [],
    dropped: dropped + excess(lines, held),
  }));
}

export function clearLog(): void {
  useLog.setState({ lines: [], held: [], dropped: 0 });
}

/** Publish the same again, retained if the topic's messages are. */
export async function resend({ topic, kind, payload }: LogLine): Promise<void> {
  await client?.publishAsync(topic, payload, { qos: 1, retain: RETAINED.includes(kind) });
}
