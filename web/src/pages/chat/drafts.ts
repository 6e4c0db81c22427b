/** What was typed and not sent, for each conversation: it outlives a reload and other pages. */

/** What the server takes in one turn. */
export const MOST_CHARACTERS = 8000;

const PLACE = "soulgraph.draft.";

export function draftOf(place: string, storage: Storage = sessionStorage): string {
  return storage.getItem(PLACE + place) ?? "";
}

export function keepDraft(place: string, text: string, storage: Storage = sessionStorage): void {
  if (text) storage.setItem(PLACE + place, text);
  else storage.removeItem(PLACE + place);
}

/** Where the words are kept that are typed before there is a conversation. */
export function firstDraft(soulId: string): string {
  return `soul.${soulId}`;
}

/** The server counts characters, a string halves of some. */
export function charactersOf(text: string): number {
  return text.length <= MOST_CHARACTERS / 2 ? text.length : [...text].length;
}
