/** What the dialogs of the page show; one at a time. */

import { useMounted } from "@mantine/hooks";

import { closeDialog, type Dialog as Opened, useDialog } from "~/pages/chat/dialog-state";
import { SoulForm } from "~/pages/chat/first-run";
import { MemoryDialog, SummariseDialog } from "~/pages/chat/growth";
import { DeleteMessage, DeleteSession, ImportFailed, Regenerate } from "~/pages/chat/questions";
import { NewConversation } from "~/pages/chat/new-conversation";
import { People, Rename } from "~/pages/chat/session-forms";
import { Dialog } from "~/parts/dialog";
import { chatWords } from "~/words/chat";
import { useWords } from "~/words/words";

export function DialogWindow() {
  const w = useWords(chatWords);
  const open = useDialog((state) => state.open);
  // It opens after it is there, so that it knows where the focus was.
  const isThere = useMounted();
  return (
    <Dialog
      opened={isThere && open !== null}
      onClose={closeDialog}
      title={open && w.dialogs[open.kind]}
      size={open?.kind === "memory" ? "lg" : "md"}
      keepMounted={false}
      centered={false}
    >
      {open && <Content dialog={open} />}
    </Dialog>
  );
}

function Content({ dialog }: { dialog: Opened }) {
  switch (dialog.kind) {
    case "new-conversation":
      return <NewConversation soulId={dialog.soulId} />;
    case "new-soul":
      return <SoulForm onMade={closeDialog} />;
    case "rename":
      return <Rename session={dialog.session} />;
    case "people":
      return <People session={dialog.session} />;
    case "delete":
      return <DeleteSession session={dialog.session} />;
    case "delete-message":
      return <DeleteMessage message={dialog.message} scene={dialog.scene} />;
    case "regenerate":
      return <Regenerate asked={dialog.asked} scene={dialog.scene} />;
    case "memory":
      return <MemoryDialog session={dialog.session} />;
    case "summarise":
      return <SummariseDialog session={dialog.session} />;
    case "import-failed":
      return <ImportFailed file={dialog.file} line={dialog.line} detail={dialog.detail} />;
  }
}
