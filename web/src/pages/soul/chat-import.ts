/** Chats with other programs on their way to a soul: what is sent, and what the server tells of it. */

import { askRaw, problemOf } from "~/api/client";

export type LeftOut = "machinery" | "unreadable" | "unknown_file" | "unused_file" | "cut";

export interface Found {
  programs: string[];
  conversations: number;
  messages: number;
  new_messages: number;
  since: string | null;
  until: string | null;
  files: string[];
  left_out: { reason: LeftOut; count: number; example: string }[];
  largest: { program: string; conversation_id: string; title: string; since: string | null; messages: number; known: number }[];
}

export interface Imported extends Found {
  imported: { conversations: number; messages: number; known: number; slots: number; files: string[]; files_kept: string[] };
}

export interface ImportProgress {
  phase: "reading" | "storing" | "indexing" | "done";
  messages: number;
  total: number | null;
  unindexed: number;
}

export interface Chats {
  soulId: string;
  userId: string;
  file: File;
}

function send({ soulId, userId, file }: Chats, dryRun: boolean): Promise<Response> {
  const query = new URLSearchParams({ user_id: userId, filename: file.name, dry_run: String(dryRun) });
  const path = `v1/souls/${encodeURIComponent(soulId)}/import-chats?${query}`;
  return askRaw(path, { method: "POST", body: file, headers: { "content-type": "application/octet-stream" } });
}

/** What would come. */
export async function survey(chats: Chats): Promise<Found> {
  return (await (await send(chats, true)).json()) as Found;
}

export async function importChats(chats: Chats, onProgress: (progress: ImportProgress) => void): Promise<Imported> {
  const { body } = await send(chats, false);
  if (body) {
    for await (const { name, data } of eventsOf(body)) {
      if (name === "done") return data as Imported;
      if (name === "error") throw problemOf(500, data);
      onProgress(data as ImportProgress);
    }
  }
  throw problemOf(500, { code: "unreachable" });
}

/** The server-sent events of a body, as they come. */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<{ name: string; data: unknown }> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const blocks = (rest + decoder.decode(next.value, { stream: true })).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const lines = block.split("\n");
      const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const [name, data] = [field("event"), field("data")];
      if (name && data) yield { name, data: JSON.parse(data) };
    }
  }
}

/** How far an import is, from 0 to 100; null while that is not known. */
export function percentOf({ phase, messages, total, unindexed }: ImportProgress): number | null {
  if (phase === "storing" && total) return (100 * messages) / total;
  if (phase === "indexing" && messages) return (100 * Math.max(0, messages - unindexed)) / messages;
  return null;
}
