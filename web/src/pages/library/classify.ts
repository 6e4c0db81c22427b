/** What a dropped file is, by its beginning and not by its name. */

export type FileKind = "card" | "lorebook" | "too-large" | "unknown";

/** What the server takes of a card or a lorebook. */
export const MOST_BYTES = 20 * 1024 * 1024;

const PNG = [0x89, 0x50, 0x4e, 0x47];
const ZIP = [0x50, 0x4b];
const JPEG = [0xff, 0xd8, 0xff];
const RIFF = [0x52, 0x49, 0x46, 0x46];
/** Of text-generation-webui, Pygmalion and Agnai. */
const FOREIGN_FIELDS = ["char_name", "char_persona", "char_greeting", "context", "greeting", "example_dialogue", "persona"];
const YAML_FIELD = /^(?:name|bot|char_name|context|char_persona)[ \t]*:/m;
/** Of Backyard, which was called Faraday. */
const BACKYARD_FIELDS = ["aiName", "aiDisplayName", "aiPersona"];
/** Of lorebooks, scenarios and stories of NovelAI and KoboldAI. */
const STORY_FIELDS = ["lorebookVersion", "scenarioVersion", "storyContainerVersion", "worldinfo", "worldinfo_v2"];
/** What is looked for in JSON with mistakes, which the server mends. */
const CARD_NAME = /["'“]?\b(?:description|personality|first_mes|char_persona|greeting)["'”]?\s*[:：]/;
const BOOK_NAME = /["'“]?\bentries["'”]?\s*[:：]/;
const BEGINNING = /^(?:\s|\/\/[^\n]*\n|#[^\n]*\n|\/\*(?:[^*]|\*(?!\/))*\*\/|```\w*)*(?=\{|\[\s*\{)/;
const CARD_FIELDS = ["description", "personality", "first_mes", "mes_example", "scenario"];

export async function kindOf(file: Blob): Promise<FileKind> {
  if (file.size > MOST_BYTES) return "too-large";
  const start = new Uint8Array(await file.slice(0, 4).arrayBuffer());
  const isCard = [PNG, ZIP, JPEG, RIFF].some((bytes) => bytes.every((byte, at) => start[at] === byte));
  if (isCard) return "card";
  const text = await textOf(file, start);
  return BEGINNING.test(text) ? kindOfJson(text) : YAML_FIELD.test(text) ? "card" : "unknown";
}

/** The text of a file; names of fields can be read in any encoding that is not of two bytes for each letter. */
async function textOf(file: Blob, start: Uint8Array): Promise<string> {
  const [first, second] = start;
  const isLittle = (first === 0xff && second === 0xfe) || second === 0;
  const isBig = (first === 0xfe && second === 0xff) || first === 0;
  const encoding = isLittle ? "utf-16le" : isBig ? "utf-16be" : "utf-8";
  return new TextDecoder(encoding).decode(await file.arrayBuffer());
}

export function kindOfJson(text: string): FileKind {
  let data: unknown;
  try {
    data = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return CARD_NAME.test(text) ? "card" : BOOK_NAME.test(text) ? "lorebook" : "unknown";
  }
  if (Array.isArray(data)) return data.some((entry) => isObject(entry) && ("key" in entry || "keys" in entry)) ? "lorebook" : "unknown";
  if (!isObject(data)) return "unknown";
  if (STORY_FIELDS.some((field) => field in data)) return "lorebook";
  if (isCard(data)) return "card";
  if (data.type === "risu" && Array.isArray(data.data)) return "lorebook";
  const book = isObject(data.data) ? data.data : data;
  return isObject(book.entries) || Array.isArray(book.entries) ? "lorebook" : "unknown";
}

function isCard(data: Record<string, unknown>): boolean {
  if (typeof data.spec === "string" && data.spec.startsWith("chara_card")) return true;
  if (isBackyard(isObject(data.character) ? data.character : data)) return true;
  if (data.kind === "character" || (isObject(data.data) && "name" in data.data)) return true;
  if (FOREIGN_FIELDS.some((field) => field in data)) return !("entries" in data);
  return typeof data.name === "string" && CARD_FIELDS.some((field) => typeof data[field] === "string") && !("entries" in data);
}

function isBackyard(data: Record<string, unknown>): boolean {
  return BACKYARD_FIELDS.some((field) => field in data);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
