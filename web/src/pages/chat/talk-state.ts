/** What the page remembers while rows come and go: drafts, turns nobody listens to, open panels, words being edited. */

import { create } from "zustand";

import { dropTurn, stopHearing, useLive } from "~/live/live";
import { draftOf, keepDraft } from "~/pages/chat/drafts";
import type { StoppedTurn } from "~/pages/chat/rows";

interface TalkState {
  drafts: Record<string, string>;
  stopped: StoppedTurn[];
  /** Rows whose *why* is shown. */
  explained: Record<string, boolean>;
  /** Words of messages that are being edited, by message id. */
  edits: Record<number, string>;
}

export const useTalk = create<TalkState>(() => ({ drafts: {}, stopped: [], explained: {}, edits: {} }));

export function useDraft(place: string): string {
  return useTalk((state) => state.drafts[place] ?? draftOf(place));
}

export function setDraft(place: string, text: string): void {
  keepDraft(place, text);
  useTalk.setState(({ drafts }) => ({ drafts: { ...drafts, [place]: text } }));
}

export function toggleWhy(key: string): void {
  useTalk.setState(({ explained }) => ({ explained: { ...explained, [key]: !explained[key] } }));
}

export function editMessage(messageId: number, words: string | null): void {
  useTalk.setState(({ edits: { [messageId]: _, ...others } }) => ({
    edits: words === null ? others : { ...others, [messageId]: words },
  }));
}

/** Show no more words of these turns; they go on, and the transcript has them in the end. */
export function stopTurns(inputIds: string[]): void {
  const { turns } = useLive.getState();
  for (const inputId of inputIds) {
    const turn = turns[inputId];
    if (!turn) continue;
    useTalk.setState(({ stopped }) => ({ stopped: [...stopped, { message: turn.message, at: turn.startedAt }] }));
    stopHearing(inputId);
  }
}

/** Such a turn is stored, or it failed. */
export function forgetStopped(inputId: string): void {
  useTalk.setState(({ stopped }) => ({ stopped: stopped.filter((turn) => turn.message.input_id !== inputId) }));
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
