/** The dialogs of the page. What they show is loaded when one is opened first. */

import { Suspense } from "react";

import { later } from "~/later";
import { useDialog } from "~/pages/chat/dialog-state";

const DialogWindow = later(async () => (await import("~/pages/chat/dialog-window")).DialogWindow);

export function Dialogs() {
  const wanted = useDialog((state) => state.wanted);
  return wanted && (
    <Suspense>
      <DialogWindow />
    </Suspense>
  );
}
