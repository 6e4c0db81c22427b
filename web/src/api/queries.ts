/** What was read from the server, and what has to be read anew when something is different there. */

import { notifyManager, QueryClient } from "@tanstack/react-query";

import { Problem, UNREACHABLE } from "~/api/client";

// That something is being sent is on the screen before the next event: a double click does not send it twice.
notifyManager.setScheduler(queueMicrotask);

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode: "always", // a server on loopback answers without any network
      staleTime: 5_000,
      refetchOnWindowFocus: false,
      retry: (count, error) => error instanceof Problem && error.code === UNREACHABLE && count < 3,
    },
    mutations: { networkMode: "always", retry: false },
  },
});

/**
 * The keys under which answers are kept: `["soul", id, part]`, `["session", id, part]`, and lists by their name.
 * A part that changes is read anew with everything below it.
 */
export const keys = {
  me: ["me"] as const,
  souls: ["souls"] as const,
  soul: (soulId: string, ...part: unknown[]) => ["soul", soulId, ...part] as const,
  sessions: (soulId?: string) => (soulId ? (["sessions", soulId] as const) : (["sessions"] as const)),
  session: (sessionId: string, ...part: unknown[]) => ["session", sessionId, ...part] as const,
  terminals: ["terminals"] as const,
  characters: ["characters"] as const,
  backgrounds: ["backgrounds"] as const,
  templates: ["templates"] as const,
  events: ["events"] as const,
};

/** Read anew what an event says is different; resolves when it is on the screen. */
export async function whatChanged(event: string, data: Record<string, unknown>): Promise<void> {
  await readAnew(staleAfter(event, data));
}

/** The same for notices, which may come in crowds: what they change is read once for all of them. */
export function noticed(event: string, data: Record<string, unknown>): void {
  if (stale.size === 0) setTimeout(readNoticed, PAUSE_MS);
  for (const key of staleAfter(event, data)) stale.set(JSON.stringify(key), key);
}

function readNoticed(): void {
  const changed = [...stale.values()];
  stale.clear();
  void readAnew(changed);
}

type Key = readonly unknown[];

const PAUSE_MS = 250;
const stale = new Map<string, Key>();

function staleAfter(event: string, data: Record<string, unknown>): Key[] {
  const session = keys.session(String(data.session_id));
  switch (event) {
    case "session_changed":
      // Of a conversation that is gone there is nothing to be read but that.
      return [data.reason === "deleted" ? [...session, "itself"] : session, keys.sessions()];
    case "proactive":
      return [session, keys.sessions()];
    case "state_changed":
      return [keys.soul(String(data.soul_id)), session, keys.events];
    case "presence":
      return [keys.terminals];
    default:
      return [];
  }
}

async function readAnew(changed: Key[]): Promise<void> {
  await Promise.all(changed.map((queryKey) => queryClient.invalidateQueries({ queryKey: [...queryKey] })));
}
