import { expect, test } from "vitest";

import type { RunningTurn } from "~/live/live";
import { liveRows, type Row, storedRows, takenBackFrom } from "~/pages/chat/rows";
import type { Message } from "~/pages/chat/transcript";

const NOON = new Date(2026, 10, 17, 12).getTime();
const DAY_MS = 86_400_000;

function message(id: number, more: Partial<Message> = {}): Message {
  const isUser = id % 2 === 1;
  const turn = Math.ceil(id / 2);
  return {
    message_id: id,
    turn_id: `turn-${turn}`,
    role: isUser ? "user" : "assistant",
    content: `words ${id}`,
    user_id: "ann",
    soul_id: "soul",
    archived: false,
    input_id: isUser ? `input-${turn}` : null,
    proactive: false,
    timestamp: new Date(NOON).toISOString(),
    ...more,
  };
}

function running(inputId: string, more: Partial<RunningTurn> = {}): RunningTurn {
  return {
    message: { input_id: inputId, session_id: "session", soul_id: "soul", text: "said", user_id: "ann" },
    reply: "coming",
    phase: "speaking",
    waited: 0,
    tools: [],
    problem: null,
    again: null,
    startedAt: NOON,
    ...more,
  };
}

/** As the page puts them together. */
function rowsOf(messages: Message[], turns: RunningTurn[] = []): Row[] {
  const stored = storedRows(messages, takenBackFrom(turns));
  return [...stored, ...liveRows(stored, messages, turns)];
}

const texts = (rows: Row[]) => rows.flatMap((row) => (row.kind === "speech" ? [row.text] : []));
const keysOf = (rows: Row[]) => rows.map((row) => row.key);

test("the first row is still there when older ones come before it", () => {
  const page = [message(3), message(4)];
  const [first] = keysOf(storedRows(page, undefined, false));
  expect(keysOf(storedRows([message(1), message(2), ...page]))).toContain(first);
});

test("there is a row for every day on which something was said", () => {
  const later = new Date(NOON + DAY_MS).toISOString();
  const rows = rowsOf([message(1), message(2), message(3, { timestamp: later })]);
  expect(rows.map((row) => row.kind)).toEqual(["day", "speech", "speech", "day", "speech"]);
});

test("a turn that is spoken on another day than the last message has a day of its own", () => {
  const rows = rowsOf([message(1), message(2)], [running("input-9", { startedAt: NOON + DAY_MS })]);
  expect(rows.map((row) => row.kind)).toEqual(["day", "speech", "speech", "day", "speech", "speech"]);
});

test("a turn has the same rows while it is spoken and after it was stored", () => {
  const spoken = rowsOf([], [running("input-1")]);
  const stored = rowsOf([message(1), message(2)]);
  expect(keysOf(spoken)).toEqual(keysOf(stored));
});

test("a turn that the transcript has already is not shown twice", () => {
  expect(texts(rowsOf([message(1), message(2)], [running("input-1")]))).toEqual(["words 1", "words 2"]);
});

test("several turns stand in the order in which they were said", () => {
  const turns = [running("b", { startedAt: NOON + 2, reply: "2" }), running("a", { startedAt: NOON + 1, reply: "1" })];
  expect(texts(rowsOf([], turns))).toEqual(["said", "1", "said", "2"]);
});

test("what an edit takes back is hidden while its answer comes, and there again if it fails", () => {
  const messages = [message(1), message(2), message(3), message(4)];
  const edit = { ...running("new").message, text: "otherwise", replaces: 3 };
  const speaking = running("new", { message: edit });
  expect(texts(rowsOf(messages, [speaking]))).toEqual(["words 1", "words 2", "otherwise", "coming"]);
  const failed = running("new", { message: edit, phase: "failed", reply: "" });
  expect(texts(rowsOf(messages, [failed])).slice(0, 4)).toEqual(["words 1", "words 2", "words 3", "words 4"]);
});

test("a message that is answered anew keeps its words before and after the answer was stored", () => {
  const again = running("input-2", { message: { input_id: "input-2", session_id: "session", replaces: 3 } });
  const before = [message(1), message(2), message(3), message(4)];
  expect(texts(rowsOf(before, [again]))).toEqual(["words 1", "words 2", "words 3", "coming"]);
  const after = [message(1), message(2), message(5, { input_id: "input-2", content: "words 3" })];
  expect(texts(rowsOf(after, [again]))).toEqual(["words 1", "words 2", "words 3", "coming"]);
});

test("what came of a reply that broke off stays, and the message is there once however often it is tried again", () => {
  const broken = running("input-9", { phase: "failed", reply: "Once upon" });
  expect(texts(rowsOf([], [broken]))).toEqual(["said", "Once upon"]);
  expect(texts(rowsOf([], [running("input-9", { phase: "waiting", reply: "" })]))).toEqual(["said", ""]);
});

test("that no other answer came is told after the messages as they were", () => {
  const message1 = { input_id: "input-1", session_id: "session", replaces: 1 };
  const failed = running("input-1", { message: message1, phase: "failed", reply: "" });
  const rows = rowsOf([message(1), message(2)], [failed]);
  expect(texts(rows)).toEqual(["words 1", "words 2", ""]);
  expect(new Set(keysOf(rows)).size).toBe(rows.length);
  expect(texts(rowsOf([message(3, { input_id: "input-1" }), message(4)], [failed]))).toEqual(["words 3", "words 4"]);
});

test("an answer knows the message that it answers; a greeting and proactive words answer nothing", () => {
  const greeting = message(2, { turn_id: "greeting" });
  const rows = rowsOf([greeting, message(3), message(4), message(6, { proactive: true, turn_id: "own" })]);
  const asked = rows.flatMap((row) => (row.kind === "speech" ? [row.asked?.message_id ?? null] : []));
  expect(asked).toEqual([null, 3, 3, null]);
});

test("no two rows have the same key", () => {
  const twice = [message(1), message(2), message(4, { turn_id: "turn-1" }), message(5, { input_id: "input-1" })];
  const keys = keysOf(rowsOf(twice));
  expect(new Set(keys).size).toBe(keys.length);
});
