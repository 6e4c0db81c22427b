import { beforeEach, expect, test } from "vitest";

import { charactersOf, draftOf, firstDraft, keepDraft } from "~/pages/chat/drafts";
import { setDraft, useTalk } from "~/pages/chat/talk-state";

beforeEach(() => sessionStorage.clear());

test("each conversation has a draft of its own", () => {
  keepDraft("one", "for one");
  keepDraft("two", "for two");
  expect([draftOf("one"), draftOf("two"), draftOf("three")]).toEqual(["for one", "for two", ""]);
});

test("a draft that was sent is gone from the storage", () => {
  keepDraft("one", "for one");
  keepDraft("one", "");
  expect(sessionStorage.length).toBe(0);
});

test("a draft for a soul without a conversation is not that of a conversation", () => {
  keepDraft(firstDraft("soul"), "hello");
  expect(draftOf("soul")).toBe("");
});

test("what is typed is kept at once", () => {
  setDraft("one", "half a sen");
  expect(draftOf("one")).toBe("half a sen");
  expect(useTalk.getState().drafts.one).toBe("half a sen");
});

test("characters are counted as the server counts them", () => {
  expect(charactersOf("你好")).toBe(2);
  expect(charactersOf("😀".repeat(5000))).toBe(5000);
});
