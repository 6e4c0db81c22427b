/** The words of a reply as they come, also when they come once more. */

export interface TurnWords {
  /** What is shown of it. */
  reply: string;
  /** After the turn was sent again: what has come of it since. */
  again: string | null;
}

/** The turn is sent again: its reply comes from the beginning, and what is shown stays until then. */
export function anew({ reply }: TurnWords): TurnWords {
  return { reply, again: reply ? "" : null };
}

export function withWords({ reply, again }: TurnWords, text: string): TurnWords {
  if (again === null) return { reply: reply + text, again };
  const spoken = again + text;
  // The same words are not taken back to be said once more; others take their place.
  return reply.startsWith(spoken) ? { reply, again: spoken } : { reply: spoken, again: null };
}
