/** The messages of a conversation as far as they were read: a run without gaps that ends with the newest. */

import type { paths } from "~/api/schema";

export type Message =
  paths["/v1/sessions/{session_id}/messages"]["get"]["responses"][200]["content"]["application/json"][number];

export interface Transcript {
  messages: Message[];
  /** Whether the first of them is the first that was ever said. */
  complete: boolean;
}

/** How many messages are read at once. */
export const PAGE = 100;

/** What is known, with the last page as the server has it now: what is gone from there is gone here. */
export function withNewest(known: Transcript | undefined, page: Message[], limit = PAGE): Transcript {
  const first = page[0];
  if (!first || page.length < limit) return { messages: page, complete: true };
  const before = known?.messages.filter((message) => message.message_id < first.message_id) ?? [];
  const overlaps = before.length < (known?.messages.length ?? 0);
  return overlaps ? { messages: [...before, ...page], complete: known!.complete } : { messages: page, complete: false };
}

/** What is known, with the page before it. */
export function withOlder(known: Transcript, page: Message[], limit = PAGE): Transcript {
  const first = known.messages[0]?.message_id ?? Number.POSITIVE_INFINITY;
  const older = page.filter((message) => message.message_id < first);
  return { messages: [...older, ...known.messages], complete: known.complete || page.length < limit };
}
