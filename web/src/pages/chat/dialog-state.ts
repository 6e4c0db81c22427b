/** The one dialog that is open, if any. */

import { create } from "zustand";

import type { Schemas } from "~/api/client";
import type { Scene } from "~/pages/chat/scene";
import type { Session } from "~/pages/chat/sessions";
import type { Message } from "~/pages/chat/transcript";

export type Dialog =
  | { kind: "new-conversation"; soulId: string }
  | { kind: "new-soul" }
  | { kind: "rename"; session: Session }
  | { kind: "people"; session: Session }
  | { kind: "delete"; session: Session }
  | { kind: "delete-message"; message: Message; scene: Scene }
  | { kind: "regenerate"; asked: Message; scene: Scene }
  | { kind: "memory"; session: Session }
  | { kind: "summarise"; session: Session }
  | { kind: "import-failed"; file: string; line: number | null; detail: string };

export type Version = Schemas["VersionOut"];

interface DialogState {
  open: Dialog | null;
  /** Whether there ever was one. */
  wanted: boolean;
}

export const useDialog = create<DialogState>(() => ({ open: null, wanted: false }));

export function openDialog(open: Dialog): void {
  useDialog.setState({ open, wanted: true });
}

export function closeDialog(): void {
  useDialog.setState({ open: null });
}
