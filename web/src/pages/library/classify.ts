/** What a dropped file is, by its beginning and not by its name. */

export type FileKind = "card" | "lorebook" | "too-large" | "unknown";

/** What the server takes of a card or a lorebook. */
export const MOST_BYTES = 20 * 1024 * 1024;

const PNG = [0x89, 0x50, 0x4e, 0x47];
const ZIP = [0x50, 0x4b];
const CARD_FIELDS = ["description", "personality", "first_mes", "mes_example", "scenario"];

export async function kindOf(file: Blob): Promise<FileKind> {
  if (file.size > MOST_BYTES) return "too-large";
  const start = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  if (PNG.every((byte, at) => start[at] === byte)) return "card";
  if (ZIP.every((byte, at) => start[at] === byte)) return "card";
  return kindOfJson(await file.text());
}

export function kindOfJson(text: string): FileKind {
  let data: unknown;
  try {
    data = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return "unknown";
  }
  if (!isObject(data)) return "unknown";
  if (isCard(data)) return "card";
  const book = isObject(data.data) ? data.data : data;
  return isObject(book.entries) || Array.isArray(book.entries) ? "lorebook" : "unknown";
}

function isCard(data: Record<string, unknown>): boolean {
  if (typeof data.spec === "string" && data.spec.startsWith("chara_card")) return true;
  return typeof data.name === "string" && CARD_FIELDS.some((field) => typeof data[field] === "string") && !("entries" in data);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
