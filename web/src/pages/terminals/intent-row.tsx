/** One intent of the list: its handle, its name, what can be done with it, and its form when it is open. */

import { ActionIcon, Badge, Text, UnstyledButton } from "@mantine/core";
import { IconChevronDown, IconChevronRight, IconTrash } from "@tabler/icons-react";

import type { IntentDraft } from "~/pages/terminals/catalog";
import type { Mistake } from "~/pages/terminals/catalog-mistakes";
import { IntentForm } from "~/pages/terminals/intent-form";
import { DragHandle, MoveButtons, rowOf, useSortableRow } from "~/parts/sortable";
import { terminalWords } from "~/words/terminals";
import { useWords } from "~/words/words";

import styles from "./intent-row.module.css";

interface IntentRowProps {
  draft: IntentDraft;
  mistakes: Mistake[];
  opened: boolean;
  onOpen: () => void;
  onChange: (draft: IntentDraft) => void;
  onRemove: () => void;
}

/** What an intent is called. */
export function useIntentName(): (draft: IntentDraft | undefined) => string {
  const w = useWords(terminalWords).catalog;
  return (draft) => draft?.name || draft?.id || w.unnamed;
}

export function IntentRow({ draft, mistakes, opened, onOpen, onChange, onRemove }: IntentRowProps) {
  const w = useWords(terminalWords).catalog;
  const row = useSortableRow(draft.key);
  const name = useIntentName()(draft);
  const keys = new Set([draft.key, ...draft.slots.map(({ key }) => key)]);
  const wrong = mistakes.some(({ of }) => keys.has(of));
  const Chevron = opened ? IconChevronDown : IconChevronRight;
  return (
    <li {...rowOf(row)} className={styles.row}>
      <div className={styles.head}>
        <DragHandle row={row} id={draft.key} name={name} />
        <UnstyledButton className={styles.name} aria-expanded={opened} onClick={onOpen}>
          <Chevron size={14} aria-hidden />
          <Text size="sm" fw={600} truncate>
            {name}
          </Text>
          <Text size="xs" c="dimmed" ff="monospace" truncate>
            {draft.id}
          </Text>
          {wrong && (
            <Badge size="xs" color="red" circle aria-hidden>
              !
            </Badge>
          )}
        </UnstyledButton>
        <MoveButtons id={draft.key} name={name} />
        <ActionIcon variant="subtle" color="red" aria-label={w.remove(name)} onClick={onRemove}>
          <IconTrash size={16} aria-hidden />
        </ActionIcon>
      </div>
      {opened && <IntentForm draft={draft} mistakes={mistakes} onChange={onChange} />}
    </li>
  );
}
