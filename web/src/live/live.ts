/** What the tab hears while it is open: the connection, moods as they move, turns as they are spoken, and notices. */

import { create } from "zustand";

import { api, ROOT, type Schemas } from "~/api/client";
import { useKey } from "~/api/key";
import { noticed, queryClient, whatChanged } from "~/api/queries";
import { newId } from "~/ids";
import { watchNetwork } from "~/live/network";
import { type ChatMessage, type Connection, type Frame, LiveSocket, type Subscription } from "~/live/socket";
import { anew, type TurnWords, withWords } from "~/live/turn-words";
import type { Told } from "~/words/problems";

export type Emotion = Schemas["EmotionOut"];
export type Answer = Schemas["Answer"];

/** A point of the live lines; `at` in epoch seconds. */
export interface MoodPoint {
  at: number;
  p: number;
  a: number;
  d: number;
  exec: number;
  threshold: number;
}

export interface NodeEvent {
  graph: string;
  node: string;
  phase: "start" | "end";
  turn_id: string;
  session_id: string;
  soul_id: string;
  at: string;
  ms?: number;
  update?: unknown;
}

/** A turn that is spoken, or that failed and waits for its person to decide. */
export interface RunningTurn extends TurnWords {
  message: ChatMessage;
  phase: "waiting" | "hearing" | "speaking" | "failed";
  /** Seconds that the server says it has been silent. */
  waited: number;
  tools: string[];
  problem: Told | null;
  startedAt: number;
}

export interface Notice {
  event: string;
  data: Record<string, unknown>;
  at: number;
}

interface LiveState {
  connection: Connection;
  /** Whether this device says that it has no network. */
  offline: boolean;
  retryAt: number | null;
  emotions: Record<string, Emotion>;
  moods: Record<string, MoodPoint[]>;
  turns: Record<string, RunningTurn>;
  nodes: NodeEvent[];
  notices: Notice[];
}

const MOST_POINTS = 600;
const MOST_NODES = 500;
const MOST_NOTICES = 100;
const PENDING = "soulgraph.turns";

export const useLive = create<LiveState>(() => ({
  connection: "connecting",
  offline: false,
  retryAt: null,
  emotions: {},
  moods: {},
  turns: {},
  nodes: [],
  notices: [],
}));

const address = new URL("v1/chat/ws", ROOT);
address.protocol = address.protocol.replace("http", "ws");

const socket = new LiveSocket(
  address,
  () => ["soulgraph", ...(useKey.getState().key ? [`bearer.${useKey.getState().key}`] : [])],
  {
    connection: (connection, retryAt) => {
      const wasDown = useLive.getState().connection === "down";
      useLive.setState({ connection, retryAt, ...(connection === "open" && { offline: false }) });
      if (connection === "open" && wasDown) void queryClient.invalidateQueries();
      if (connection === "down" && useKey.getState().key) void askForKey();
    },
    frame: received,
    resent: (inputId) => {
      showWords();
      changeTurn(inputId, (turn) => ({ ...anew(turn), phase: "waiting", tools: [] }));
    },
  },
);

/** A refused key looks like a lost server to a socket: the answer to an ordinary request tells which it is. */
async function askForKey(): Promise<void> {
  await api.GET("/v1/me").catch(() => undefined);
}

/** Open the socket, and say again what a reload has interrupted. */
export function startLive(): void {
  for (const { message, problem, reply = "" } of keptTurns()) {
    if (message.input_id in useLive.getState().turns) continue;
    if (problem) putTurn({ ...newTurn(message), phase: "failed", problem, reply });
    else begin(message);
  }
  socket.open();
  unwatch = watchNetwork({
    lost: () => {
      useLive.setState({ offline: true });
      socket.networkLost();
    },
    check: () => {
      useLive.setState({ offline: !navigator.onLine });
      socket.check();
    },
  });
}

let unwatch = () => {};

/** Try at once, and not when the next try is due. */
export function reconnect(): void {
  socket.open();
}

export function stopLive(): void {
  unwatch();
  socket.close();
}

const listening = new Map<string, Subscription[]>();

/** Hear of a soul; the answer ends it. Several parts of a page may listen to the same one. */
export function listen(subscription: Subscription): () => void {
  const soulId = subscription.soul_id;
  subscribe(soulId, [...(listening.get(soulId) ?? []), subscription]);
  return () => subscribe(soulId, (listening.get(soulId) ?? []).filter((one) => one !== subscription));
}

function subscribe(soulId: string, wanted: Subscription[]): void {
  const before = JSON.stringify(joint(listening.get(soulId) ?? []));
  listening.set(soulId, wanted);
  const subscription = joint(wanted);
  if (!subscription) socket.unlisten(soulId);
  else if (JSON.stringify(subscription) !== before) socket.listen(subscription);
}

/** One subscription that has what all of them want; undefined if nobody wants anything. */
function joint(wanted: Subscription[]): Subscription | undefined {
  const last = wanted.at(-1);
  return last && { ...last, nodes: wanted.some((one) => one.nodes) };
}

/**
 * Say something. What comes of it is in `turns` under its `input_id` until the transcript has it.
 * To ask again for an answer, give the `input_id` of the message that it replaces, and no text.
 */
export function say(message: Omit<ChatMessage, "input_id"> & { input_id?: string }): string {
  const whole = { ...message, input_id: message.input_id ?? newId() };
  begin(whole);
  keepPending();
  return whole.input_id;
}

/** What was read of the reply is the whole of it. The turn ends by itself then, as any other. */
export function stopTurn({ session_id, user_id, input_id }: ChatMessage): void {
  if (session_id) socket.stop({ session_id, user_id, input_id });
}

export function retryTurn(inputId: string): void {
  const turn = useLive.getState().turns[inputId];
  if (turn) begin(turn.message);
  keepPending();
}

export function dropTurn(inputId: string): void {
  socket.forget(inputId);
  const { [inputId]: _, ...turns } = useLive.getState().turns;
  useLive.setState({ turns });
  keepPending();
}

function begin(message: ChatMessage): void {
  putTurn(newTurn(message));
  socket.chat(message);
}

function newTurn(message: ChatMessage): RunningTurn {
  const silent = { reply: "", again: null, waited: 0, tools: [], problem: null };
  return { message, ...silent, phase: "waiting", startedAt: Date.now() };
}

function putTurn(turn: RunningTurn): void {
  useLive.setState((state) => ({ turns: { ...state.turns, [turn.message.input_id]: turn } }));
}

function received(frame: Frame): void {
  if (frame.input_id && frame.input_id in useLive.getState().turns) return heard(frame.input_id, frame);
  const data = frame.data;
  if (frame.event === "emotion_update") return moved(data as unknown as Emotion);
  if (frame.event === "node") {
    const event = data as unknown as NodeEvent;
    return useLive.setState((state) => ({ nodes: [...state.nodes, event].slice(-MOST_NODES) }));
  }
  if (frame.event === "listening" && data.missed) void queryClient.invalidateQueries();
  if (frame.event === "pong" || frame.event === "listening" || frame.event === "unlistened") return;
  const notice = { event: frame.event, data, at: Date.now() };
  useLive.setState((state) => ({ notices: [...state.notices, notice].slice(-MOST_NOTICES) }));
  noticed(frame.event, data);
}

function heard(inputId: string, frame: Frame): void {
  const data = frame.data;
  switch (frame.event) {
    case "emotion":
      return changeTurn(inputId, () => ({ phase: "hearing" }));
    case "token":
      return spoken(inputId, String(data.text));
    case "waiting":
      return changeTurn(inputId, () => ({ waited: Number(data.seconds) }));
    case "tool":
      return changeTurn(inputId, (turn) => ({ tools: [...turn.tools, String(data.name)] }));
    case "error":
      showWords();
      changeTurn(inputId, () => ({
        phase: "failed",
        problem: { code: String(data.code), detail: String(data.detail), reason: data.reason },
      }));
      return keepPending();
    case "done":
      return void stored(inputId, data as unknown as Answer);
  }
}

/** Words come faster than a screen is drawn: they are collected and shown with its next frame. */
const unspoken = new Map<string, string>();

function spoken(inputId: string, text: string): void {
  if (unspoken.size === 0) requestAnimationFrame(showWords);
  unspoken.set(inputId, (unspoken.get(inputId) ?? "") + text);
}

function showWords(): void {
  const words = [...unspoken];
  unspoken.clear();
  for (const [inputId, text] of words) {
    changeTurn(inputId, (turn) => ({ ...withWords(turn, text), phase: "speaking" }));
  }
}

/** The transcript is read anew before the turn is dropped, so that its words never leave the screen. */
async function stored(inputId: string, answer: Answer): Promise<void> {
  unspoken.delete(inputId);
  changeTurn(inputId, () => ({ reply: answer.reply, phase: "speaking" }));
  await whatChanged("session_changed", { ...answer, reason: "turn" });
  dropTurn(inputId);
}

function changeTurn(inputId: string, change: (turn: RunningTurn) => Partial<RunningTurn>): void {
  const turn = useLive.getState().turns[inputId];
  if (!turn) return;
  useLive.setState((state) => ({ turns: { ...state.turns, [inputId]: { ...turn, ...change(turn) } } }));
}

function moved(emotion: Emotion): void {
  const point = {
    at: Date.parse(emotion.at) / 1000,
    p: emotion.soul_emotion.p,
    a: emotion.soul_emotion.a,
    d: emotion.soul_emotion.d,
    exec: emotion.gate.exec_probability,
    threshold: emotion.gate.threshold,
  };
  useLive.setState((state) => ({
    emotions: { ...state.emotions, [emotion.soul_id]: emotion },
    moods: { ...state.moods, [emotion.soul_id]: [...(state.moods[emotion.soul_id] ?? []), point].slice(-MOST_POINTS) },
  }));
}

type KeptTurn = Pick<RunningTurn, "message" | "problem" | "reply">;

/** What was said and not answered outlives a reload of the page. What has failed waits there for its person. */
function keepPending(): void {
  const turns = Object.values(useLive.getState().turns);
  const kept: KeptTurn[] = turns.map(({ message, problem, reply }) => ({ message, problem, reply }));
  sessionStorage.setItem(PENDING, JSON.stringify(kept));
}

function keptTurns(): KeptTurn[] {
  return JSON.parse(sessionStorage.getItem(PENDING) ?? "[]") as KeptTurn[];
}
