/** The transcript of a conversation: its newest page, read anew whenever something is said, and older ones on demand. */

import { useQuery } from "@tanstack/react-query";
import { useCallback, useRef, useState } from "react";

import { api, ask } from "~/api/client";
import { keys, queryClient } from "~/api/queries";
import { type Message, PAGE, type Transcript, withNewest, withOlder } from "~/pages/chat/transcript";
import { showProblem } from "~/parts/problem";

const MOST = 1000;

const keyOf = (sessionId: string, person?: string) => keys.session(sessionId, "messages", person ?? "");

interface Part {
  newest?: boolean;
  before?: number;
  after?: number;
  limit?: number;
}

function readPart(sessionId: string, person: string | undefined, part: Part): Promise<Message[]> {
  const query = { limit: PAGE, ...part, user_id: person };
  return ask(
    api.GET("/v1/sessions/{session_id}/messages", { params: { path: { session_id: sessionId }, query } }),
  );
}

export function useTranscript(sessionId: string, person?: string) {
  const key = keyOf(sessionId, person);
  const query = useQuery({
    queryKey: key,
    queryFn: async () => {
      const page = await readPart(sessionId, person, { newest: true });
      return withNewest(queryClient.getQueryData<Transcript>(key), page);
    },
  });
  const reading = useRef(false);
  const [isReadingOlder, setReadingOlder] = useState(false);
  const readOlder = useCallback(async () => {
    const known = queryClient.getQueryData<Transcript>(keyOf(sessionId, person));
    const first = known?.messages[0];
    if (reading.current || !first || known.complete) return;
    reading.current = true;
    setReadingOlder(true);
    try {
      const page = await readPart(sessionId, person, { before: first.message_id });
      queryClient.setQueryData<Transcript>(keyOf(sessionId, person), (now) => now && withOlder(now, page));
    } catch (problem) {
      showProblem(problem);
    } finally {
      reading.current = false;
      setReadingOlder(false);
    }
  }, [sessionId, person]);
  return { ...query, readOlder, isReadingOlder };
}

/** Read everything that was said before what is known. Resolves to whether the first message is known now. */
export async function readToFirst(sessionId: string, person?: string): Promise<boolean> {
  const key = keyOf(sessionId, person);
  const known = queryClient.getQueryData<Transcript>(key);
  const first = known?.messages[0]?.message_id;
  if (!known || known.complete || first === undefined) return true;
  try {
    const older = await readAfter(sessionId, person, 0, first);
    queryClient.setQueryData<Transcript>(key, (now) => now && withOlder(now, older, Number.POSITIVE_INFINITY));
    return true;
  } catch (problem) {
    showProblem(problem);
    return false;
  }
}

/** Every message after one, and before another if it is given. */
async function readAfter(sessionId: string, person: string | undefined, after: number, end = Number.POSITIVE_INFINITY) {
  const messages: Message[] = [];
  for (let last = after; ; ) {
    const page = await readPart(sessionId, person, { after: last, limit: MOST });
    messages.push(...page);
    last = page.at(-1)?.message_id ?? end;
    if (page.length < MOST || last >= end) return messages;
  }
}

/** Show a change of our own at once. */
export function changeKnown(sessionId: string, person: string | undefined, change: (known: Message[]) => Message[]): void {
  queryClient.setQueryData<Transcript>(
    keyOf(sessionId, person),
    (now) => now && { ...now, messages: change(now.messages) },
  );
}

/** Read everything anew that is known: somebody has changed a message that may be an old one. */
export async function readAgain(sessionId: string, person?: string): Promise<void> {
  const key = keyOf(sessionId, person);
  const known = queryClient.getQueryData<Transcript>(key);
  if (!known || known.messages.length <= PAGE) return;
  const messages = await readAfter(sessionId, person, (known.messages[0]?.message_id ?? 1) - 1);
  queryClient.setQueryData<Transcript>(key, { messages, complete: known.complete });
}
