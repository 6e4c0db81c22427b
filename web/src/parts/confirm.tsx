/** A button that asks once more before it does what cannot be undone. */

import { Button, type ButtonProps, Group, Popover, Text } from "@mantine/core";
import { useEffect, useRef, useState } from "react";

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
  const { target, noteAround } = useFocusAround();
  const confirm = () => {
    if (!asking) return; // the second of two clicks, while the question fades
    setAsking(false);
    noteAround();
    onConfirm();
  };
  return (
    <Popover opened={asking} onChange={setAsking} trapFocus returnFocus withArrow shadow="md">
      <Popover.Target>
        <Button ref={target} variant="subtle" color="red" size="xs" {...button} onClick={() => setAsking(true)}>
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

/** Whoever confirms that something goes is then where it was, if its button goes with it: in its list, or around. */
function useFocusAround() {
  const target = useRef<HTMLButtonElement>(null);
  const around = useRef<HTMLElement[]>([]);
  useEffect(
    () => () => {
      const place = around.current.find((one) => one.isConnected);
      // Not if somebody has gone on to something else meanwhile.
      if (!place || !document.activeElement?.contains(place)) return;
      if (!place.hasAttribute("tabindex")) place.tabIndex = -1;
      place.focus({ preventScroll: true });
    },
    [],
  );
  const noteAround = () => {
    const places = ["ul, ol, [role=list]", "section", "main"].map((one) => target.current?.closest<HTMLElement>(one));
    around.current = places.filter((one) => one != null);
  };
  return { target, noteAround };
}
