import { expect, test } from "vitest";

import { fileName } from "~/pages/chat/files";

test("a transcript is called by its title, in characters that files may have", () => {
  expect(fileName("今天/昨天: ok?", "sess_1")).toBe("今天 昨天 ok.jsonl");
  expect(fileName("", "sess_1")).toBe("sess_1.jsonl");
  expect(fileName("?:*", "sess_1")).toBe("sess_1.jsonl");
});
