/** What the page remembers while rows come and go: drafts, open panels, words being edited. */

import { create } from "zustand";

import { dropTurn, useLive } from "~/live/live";
import { draftOf, keepDraft } from "~/pages/chat/drafts";

interface TalkState {
  drafts: Record<string, string>;
  /** The row whose *why* is shown. */
  explained: string | null;
  /** Words of messages that are being edited, by message id. */
  edits: Record<number, string>;
}

export const useTalk = create<TalkState>(() => ({ drafts: {}, explained: null, edits: {} }));

export function useDraft(place: string): string {
  return useTalk((state) => state.drafts[place] ?? draftOf(place));
}

export function setDraft(place: string, text: string): void {
  keepDraft(place, text);
  useTalk.setState(({ drafts }) => ({ drafts: { ...drafts, [place]: text } }));
}

export function toggleWhy(key: string): void {
  useTalk.setState(({ explained }) => ({ explained: explained === key ? null : key }));
}

export function editMessage(messageId: number, words: string | null): void {
  useTalk.setState(({ edits: { [messageId]: _, ...others } }) => ({
    edits: words === null ? others : { ...others, [messageId]: words },
  }));
}

/** The words of a turn that failed go back to where they were typed, after what is there already. */
export function takeBack(inputId: string): void {
  const message = useLive.getState().turns[inputId]?.message;
  if (message?.session_id && message.text) {
    const typed = useTalk.getState().drafts[message.session_id] ?? draftOf(message.session_id);
    setDraft(message.session_id, typed ? `${typed}\n${message.text}` : message.text);
  }
  dropTurn(inputId);
}
