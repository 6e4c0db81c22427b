/** The topics of terminals: `soul/terminal/{terminal_id}/{kind}`, as docs/terminals.md has them. */

export const EVERYTHING = "soul/terminal/#";

/** What the broker keeps of a terminal and tells again to whoever subscribes. */
export const RETAINED: readonly string[] = ["online", "skills", "intent_catalog"];

/** What a terminal may say. */
export const SAID: readonly string[] = [...RETAINED, "heartbeat", "input", "result"];

/** What a terminal hears. */
export const HEARD: readonly string[] = [
  "emotion_update",
  "intent_action",
  "invoke",
  "reply",
  "proactive",
  "status",
];

/** Letters and digits of any script, as the server takes them. */
const ID = /^[\p{L}\p{N}_.:@-]{1,128}$/u;

export function isTerminalId(text: string): boolean {
  return ID.test(text);
}

export function topicOf(terminalId: string, ...levels: string[]): string {
  return ["soul", "terminal", terminalId, ...levels].join("/");
}

export interface Place {
  terminalId: string;
  /** The first level behind the terminal, such as `invoke`. */
  kind: string;
  /** What follows it, such as the id of a request. */
  rest: string;
}

/** Null for a topic that is no terminal's. */
export function placeOf(topic: string): Place | null {
  const [soul, terminal, terminalId, kind, ...rest] = topic.split("/");
  if (soul !== "soul" || terminal !== "terminal" || !terminalId || !kind) return null;
  return { terminalId, kind, rest: rest.join("/") };
}

/** The JSON of a payload; undefined for `online`, `1` and what is no JSON. */
export function jsonOf(payload: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(payload);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
