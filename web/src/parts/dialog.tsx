/** Windows over the page. */

import { Button, Group, Modal, type ModalProps, Stack } from "@mantine/core";
import { useWindowEvent } from "@mantine/hooks";
import type { FormEvent, ReactNode } from "react";

import { holdWhileComposing, isComposing } from "~/composing";
import { DiscardQuestion, useDiscard } from "~/parts/discard";
import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";

export function Dialog(props: ModalProps) {
  const w = useWords(commonWords);
  useEscape(props.opened, props.onClose);
  return <Modal centered closeButtonProps={{ "aria-label": w.close }} closeOnEscape={false} {...props} />;
}

/** Escape is the window's, unless a word is being composed or a list is open in it, which it closes first. */
function useEscape(opened: boolean, onEscape: () => void): void {
  const escape = (event: KeyboardEvent) => {
    if (!opened || event.key !== "Escape" || isComposing(event)) return;
    const isOfList = event.target instanceof Element && event.target.matches('[data-mantine-stop-propagation="true"]');
    if (!isOfList) onEscape();
  };
  useWindowEvent("keydown", escape, { capture: true });
}

interface FormDialogProps {
  title: string;
  submit: string;
  color?: string;
  size?: string;
  pending: boolean;
  ready?: boolean;
  /** Whether something was typed that would be lost: then it is asked before the window closes by itself. */
  changed?: boolean;
  onSubmit: () => void;
  onClose: () => void;
  children: ReactNode;
}

/** A form in a window of its own. Its last line cancels or submits, once. */
export function FormDialog(props: FormDialogProps) {
  const { title, submit, color, size, pending, ready = true, changed = false, onSubmit, onClose, children } = props;
  const w = useWords(commonWords);
  const discard = useDiscard(changed, onClose);
  const submitted = (event: FormEvent) => {
    event.preventDefault();
    if (ready && !pending) onSubmit();
  };
  return (
    <Dialog opened onClose={discard.leave} title={title} size={size}>
      <form onSubmit={submitted} onKeyDownCapture={holdWhileComposing}>
        <Stack gap="sm">
          {children}
          {discard.asking ? (
            <DiscardQuestion onStay={discard.stay} onDiscard={onClose} />
          ) : (
            <Group justify="flex-end" gap="xs">
              <Button variant="default" onClick={onClose}>
                {w.cancel}
              </Button>
              <Button type="submit" color={color} loading={pending} disabled={!ready}>
                {submit}
              </Button>
            </Group>
          )}
        </Stack>
      </form>
    </Dialog>
  );
}
