/** Changes all chosen entries at once. */

import { Button, Group, NumberInput, Text } from "@mantine/core";
import { useState } from "react";

import { ConfirmButton } from "~/parts/confirm";
import { libraryWords } from "~/words/library";
import { useWords } from "~/words/words";
import styles from "./library.module.css";
import { edited, without } from "./lore-list";
import type { LoreState } from "./use-lore";

interface LoreBatchProps {
  state: LoreState;
  chosen: ReadonlySet<string>;
  onChosen: (chosen: ReadonlySet<string>) => void;
}

export function LoreBatch({ state, chosen, onChosen }: LoreBatchProps) {
  const w = useWords(libraryWords);
  const [priority, setPriority] = useState<number | string>(50);
  if (chosen.size === 0) return null;
  const changes = [
    { label: w.enable, change: { enabled: true } },
    { label: w.disable, change: { enabled: false } },
    { label: w.makeConstant, change: { constant: true } },
    { label: w.makeWaking, change: { constant: false } },
  ];
  const change = (part: Parameters<typeof edited>[2]) => void state.save(edited(state.lore, chosen, part));
  return (
    <Group gap={6} className={styles.inset} role="group" aria-label={w.batch}>
      <Text size="sm" fw={600} role="status">
        {w.selected(chosen.size)}
      </Text>
      {changes.map(({ label, change: part }) => (
        <Button key={label} size="compact-xs" variant="default" disabled={state.isSaving} onClick={() => change(part)}>
          {label}
        </Button>
      ))}
      <Group gap={4} wrap="nowrap">
        <NumberInput
          aria-label={w.priority}
          size="xs"
          w={76}
          min={0}
          max={1000}
          allowDecimal={false}
          value={priority}
          onChange={setPriority}
        />
        <Button
          size="compact-xs"
          variant="default"
          disabled={state.isSaving || typeof priority !== "number"}
          onClick={() => change({ priority: Number(priority) })}
        >
          {w.setPriority}
        </Button>
      </Group>
      <ConfirmButton
        size="compact-xs"
        question={w.deleteEntries(chosen.size)}
        disabled={state.isSaving}
        onConfirm={() => void state.save(without(state.lore, chosen))}
      >
        {w.deleteSelected}
      </ConfirmButton>
      <Button size="compact-xs" variant="subtle" color="gray" onClick={() => onChosen(new Set())}>
        {w.clear}
      </Button>
    </Group>
  );
}
