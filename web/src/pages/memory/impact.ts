/** What an event has changed, as far as it says so in the usual form. */

export interface Change {
  field: string;
  before: string;
  after: string;
}

export function changesOf(impact: Record<string, unknown>): Change[] {
  const changes = impact.state_changes;
  if (!Array.isArray(changes)) return [];
  return changes
    .filter((change): change is Record<string, unknown> => typeof change === "object" && change !== null)
    .map(({ field, before, after }) => ({ field: text(field), before: text(before), after: text(after) }))
    .filter(({ field, after }) => field !== "" || after !== "");
}

const text = (value: unknown) => (typeof value === "string" ? value : "");
