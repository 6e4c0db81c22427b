/** A button that asks once more before it does what cannot be undone. */

import { Button, type ButtonProps, Group, Popover, Text } from "@mantine/core";
import { useState } from "react";

import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";

interface ConfirmProps extends ButtonProps {
  question: string;
  onConfirm: () => void;
  "aria-label"?: string;
}

export function ConfirmButton({ question, onConfirm, children, ...button }: ConfirmProps) {
  const w = useWords(commonWords);
  const [asking, setAsking] = useState(false);
  const confirm = () => {
    if (!asking) return; // the second of two clicks, while the question fades
    setAsking(false);
    onConfirm();
  };
  return (
    <Popover opened={asking} onChange={setAsking} trapFocus withArrow shadow="md">
      <Popover.Target>
        <Button variant="subtle" color="red" size="xs" {...button} onClick={() => setAsking(true)}>
          {children}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Text size="sm" maw={280} mb="xs">
          {question}
        </Text>
        <Group justify="flex-end" gap="xs">
          <Button size="xs" variant="default" onClick={() => setAsking(false)}>
            {w.cancel}
          </Button>
          <Button size="xs" color="red" onClick={confirm}>
            {w.yes}
          </Button>
        </Group>
      </Popover.Dropdown>
    </Popover>
  );
}
