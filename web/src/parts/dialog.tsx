/** Windows over the page. */

import { Button, Group, Modal, type ModalProps, Stack } from "@mantine/core";
import type { FormEvent, ReactNode } from "react";

import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";

export function Dialog(props: ModalProps) {
  const w = useWords(commonWords);
  return <Modal centered closeButtonProps={{ "aria-label": w.close }} {...props} />;
}

interface FormDialogProps {
  title: string;
  submit: string;
  color?: string;
  size?: string;
  pending: boolean;
  ready?: boolean;
  onSubmit: () => void;
  onClose: () => void;
  children: ReactNode;
}

/** A form in a window of its own. Its last line cancels or submits, once. */
export function FormDialog({ title, submit, color, size, pending, ready = true, onSubmit, onClose, children }: FormDialogProps) {
  const w = useWords(commonWords);
  const submitted = (event: FormEvent) => {
    event.preventDefault();
    if (ready && !pending) onSubmit();
  };
  return (
    <Dialog opened onClose={onClose} title={title} size={size}>
      <form onSubmit={submitted}>
        <Stack gap="sm">
          {children}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {w.cancel}
            </Button>
            <Button type="submit" color={color} loading={pending} disabled={!ready}>
              {submit}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
