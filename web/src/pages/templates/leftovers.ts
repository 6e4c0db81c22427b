/** What stands in double braces and is filled in by nobody: macros of other programs, and variables that are misspelt. */

import type { Variable } from "./completion";
import type { DraftModule } from "./draft";

/** A text is refused with all but what is `left` in it. */
export type Verdict = "unknown" | "unclosed" | "asIs" | "left";

export interface Leftover {
  text: string;
  verdict: Verdict;
  /** The variable that says the same here. */
  instead?: string;
}

const BRACES = /\{\{[^{}]*\}\}|\{\{[^{}\n]*/g;
const NAME = /^\{\{\s*([\p{L}\p{N}_]+)\s*\}\}$/u;
/** Other names that the server takes for its variables. */
const ALIASES = [
  "dynamic_profile_json", "dynamic_profile_json_content", "rag_events", "rag_retrieved_events_formatted_text",
  "last_N_unarchived_messages", "user_input_text",
];
const INSTEAD: Record<string, string> = { char: "soul_name", bot: "soul_name", persona: "user_file" };
const LONGEST = 60;

export function leftoversOf({ kind, text }: Pick<DraftModule, "kind" | "text">, variables: readonly Variable[]): Leftover[] {
  const known = new Set([...variables.map((one) => one.name), ...ALIASES]);
  const found = new Map<string, Leftover>();
  for (const [braces] of text.matchAll(BRACES)) {
    const name = NAME.exec(braces)?.[1];
    const verdict = kind === "template" ? inTemplate(braces, name, known) : inContent(name, known);
    if (!verdict) continue;
    const shown = braces.length > LONGEST ? `${braces.slice(0, LONGEST)}…` : braces.trimEnd();
    found.set(shown, { text: shown, verdict, instead: INSTEAD[name ?? ""] });
  }
  return [...found.values()];
}

function inTemplate(braces: string, name: string | undefined, known: ReadonlySet<string>): Verdict | null {
  if (name && known.has(name)) return null;
  return braces.endsWith("}}") ? "unknown" : "unclosed";
}

/** A text that is said as it is has no variables: what looks like one is refused, and anything else goes to the model. */
function inContent(name: string | undefined, known: ReadonlySet<string>): Verdict {
  if (!name) return "left";
  return known.has(name) ? "asIs" : "unknown";
}
