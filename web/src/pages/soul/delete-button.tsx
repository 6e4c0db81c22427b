import type { ButtonProps } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";

import { ConfirmButton } from "~/parts/confirm";

interface DeleteProps extends ButtonProps {
  label: string;
  question: string;
  onConfirm: () => void;
}

export function DeleteButton({ label, ...props }: DeleteProps) {
  return (
    <ConfirmButton size="compact-sm" px={5} aria-label={label} {...props}>
      <IconTrash size={16} aria-hidden />
    </ConfirmButton>
  );
}
