/** Asks before something that was typed is thrown away. */

import { Button, Group, Text } from "@mantine/core";
import { useRef, useState } from "react";

import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";

interface Discard {
  asking: boolean;
  /** Somebody wants to leave, perhaps by mistake; while it is asked, they want to stay after all. */
  leave: () => void;
  stay: () => void;
}

export function useDiscard(changed: boolean, onDiscard: () => void): Discard {
  const [asking, setAsking] = useState(false);
  const typing = useRef<HTMLElement | null>(null);
  const stay = () => {
    setAsking(false);
    typing.current?.focus();
  };
  const leave = () => {
    if (asking) return stay();
    if (!changed) return onDiscard();
    typing.current = document.activeElement as HTMLElement | null;
    setAsking(true);
  };
  return { asking, leave, stay };
}

export function DiscardQuestion({ onStay, onDiscard }: { onStay: () => void; onDiscard: () => void }) {
  const w = useWords(commonWords);
  return (
    <Group justify="flex-end" gap="xs" role="alert">
      <Text size="sm">{w.discardQuestion}</Text>
      <Button size="xs" variant="default" onClick={onStay} autoFocus>
        {w.keepEditing}
      </Button>
      <Button size="xs" color="red" onClick={onDiscard}>
        {w.discardText}
      </Button>
    </Group>
  );
}
