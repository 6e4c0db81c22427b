import { expect, test } from "vitest";

import { type Message, type Transcript, withNewest, withOlder } from "~/pages/chat/transcript";

const LIMIT = 3;

function message(id: number, content = `words ${id}`): Message {
  return {
    message_id: id,
    turn_id: `turn-${Math.ceil(id / 2)}`,
    role: id % 2 ? "user" : "assistant",
    content,
    user_id: "ann",
    soul_id: "soul",
    archived: false,
    input_id: id % 2 ? `input-${id}` : null,
    proactive: false,
    timestamp: "2026-11-17T09:00:00.000Z",
  };
}

const messages = (...ids: number[]) => ids.map((id) => message(id));
const ids = (transcript: Transcript) => transcript.messages.map(({ message_id }) => message_id);

test("the first page is the whole conversation if it is not full", () => {
  expect(withNewest(undefined, messages(1, 2), LIMIT)).toEqual({ messages: messages(1, 2), complete: true });
  expect(withNewest(undefined, messages(5, 6, 7), LIMIT).complete).toBe(false);
});

test("older messages stay when a newer page slides on", () => {
  const known = { messages: messages(1, 2, 3, 4, 5), complete: true };
  const now = withNewest(known, messages(4, 5, 6), LIMIT);
  expect(ids(now)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(now.complete).toBe(true);
});

test("what was taken back or corrected is so here too", () => {
  const known = { messages: messages(1, 2, 3, 4, 5, 6), complete: true };
  expect(ids(withNewest(known, messages(2, 3, 7), LIMIT))).toEqual([1, 2, 3, 7]);
  const corrected = [message(4), message(5, "other words"), message(6)];
  expect(withNewest(known, corrected, LIMIT).messages[4]?.content).toBe("other words");
  expect(withNewest(known, [], LIMIT)).toEqual({ messages: [], complete: true });
});

test("a page with a gap before it begins anew", () => {
  const known = { messages: messages(1, 2), complete: true };
  expect(withNewest(known, messages(7, 8, 9), LIMIT)).toEqual({ messages: messages(7, 8, 9), complete: false });
});

test("older pages come before what is known, each message once", () => {
  const known = { messages: messages(7, 8, 9), complete: false };
  const more = withOlder(known, messages(4, 5, 6), LIMIT);
  expect(ids(more)).toEqual([4, 5, 6, 7, 8, 9]);
  expect(more.complete).toBe(false);
  const all = withOlder(more, messages(3, 4), LIMIT);
  expect(ids(all)).toEqual([3, 4, 5, 6, 7, 8, 9]);
  expect(all.complete).toBe(true);
});
