/** What the transcript shows, one row after another: days, stored messages, and turns that are being spoken. */

import type { RunningTurn } from "~/live/live";
import type { Message } from "~/pages/chat/transcript";

export interface SpeechRow {
  kind: "speech";
  /** The same while it is spoken and after it was stored, so that nothing flickers between the two. */
  key: string;
  role: "user" | "assistant";
  text: string;
  /** The person who said it, or the soul. */
  speaker: string;
  at: number;
  message: Message | null;
  turn: RunningTurn | null;
  /** The person's message that this one is or answers: what can be asked again. */
  asked: Message | null;
}

export interface DayRow {
  kind: "day";
  key: string;
  at: number;
}

export type Row = SpeechRow | DayRow;

/** From which message on an edit takes the transcript back; they are there again if it fails. */
export function takenBackFrom(running: RunningTurn[]): number {
  const replaced = running.filter((turn) => turn.phase !== "failed").map((turn) => turn.message.replaces);
  return Math.min(...replaced.filter((id) => id !== undefined), Number.POSITIVE_INFINITY);
}

/**
 * The day of the first message is not told before everything is known (`complete`): as the first row it would be gone
 * with the next page, and the list would lose its hold on it.
 */
export function storedRows(messages: Message[], takenBack = Number.POSITIVE_INFINITY, complete = true): Row[] {
  const asked = new Map<string, Message>();
  const used = new Set<string>();
  const shown = messages.filter((message) => message.message_id < takenBack);
  const rows = withDays(shown.map((message) => storedRow(message, asked, used)));
  return complete ? rows : rows.slice(1);
}

function storedRow(message: Message, asked: Map<string, Message>, used: Set<string>): SpeechRow {
  const isUser = message.role === "user";
  if (isUser) asked.set(message.turn_id, message);
  const question = asked.get(message.turn_id) ?? null;
  const name = question?.input_id ? `${isUser ? "user" : "soul"}:${question.input_id}` : "";
  const key = name && !used.has(name) ? name : `message:${message.message_id}`;
  used.add(key);
  return {
    kind: "speech",
    key,
    role: isUser ? "user" : "assistant",
    text: message.content,
    speaker: isUser ? message.user_id : message.soul_id,
    at: Date.parse(message.timestamp),
    message,
    turn: null,
    asked: question,
  };
}

/** The turns that the transcript does not have yet: it has both of their messages at once. */
export function liveRows(stored: Row[], messages: Message[], running: RunningTurn[]): Row[] {
  const isStored = ({ input_id }: RunningTurn["message"]) => stored.some((row) => row.key === `user:${input_id}`);
  const isKept = ({ message }: RunningTurn) => messages.some((one) => one.message_id === message.replaces);
  const spoken = running
    .filter((turn) => !isStored(turn.message) || (turn.phase === "failed" && isKept(turn)))
    .sort((one, other) => one.startedAt - other.startedAt);
  const speech = spoken.flatMap((turn) =>
    isStored(turn.message) ? failedRow(turn, messages) : runningRows(turn, messages),
  );
  return withDays(speech, stored.at(-1)?.at);
}

function saidRow(said: RunningTurn["message"], at: number, messages: Message[]): SpeechRow {
  const replaced = messages.find((message) => message.message_id === said.replaces);
  const again = replaced ?? messages.find((message) => message.role === "user" && message.input_id === said.input_id);
  return {
    kind: "speech",
    key: `user:${said.input_id}`,
    role: "user",
    text: said.text ?? again?.content ?? "",
    speaker: said.user_id ?? again?.user_id ?? "",
    at,
    message: null,
    turn: null,
    asked: null,
  };
}

function runningRows(turn: RunningTurn, messages: Message[]): SpeechRow[] {
  const said = { ...saidRow(turn.message, turn.startedAt, messages), turn };
  const speaker = turn.message.soul_id ?? "";
  return [said, { ...said, key: `soul:${turn.message.input_id}`, role: "assistant", text: turn.reply, speaker }];
}

/** No other answer came to a message, which stays where it was with the answer it has. */
function failedRow(turn: RunningTurn, messages: Message[]): SpeechRow[] {
  return runningRows(turn, messages)
    .slice(1)
    .map((row) => ({ ...row, key: `failed:${turn.message.input_id}` }));
}

/** A row for every day on which something was said; `last` is when something was said before. */
function withDays(speech: SpeechRow[], last?: number): Row[] {
  const rows: Row[] = [];
  let day = last === undefined ? "" : new Date(last).toDateString();
  for (const row of speech) {
    const date = new Date(row.at).toDateString();
    if (date !== day) rows.push({ kind: "day", key: `day:${date}`, at: row.at });
    day = date;
    rows.push(row);
  }
  return rows;
}
