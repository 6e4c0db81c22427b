import { Badge, Checkbox, Text, UnstyledButton } from "@mantine/core";

import { DragHandle, rowOf, useSortableRow } from "~/parts/sortable";
import { libraryWords } from "~/words/library";
import { useWords } from "~/words/words";
import styles from "./library.module.css";
import { tokensOf } from "./tokens";
import type { Lore } from "./wake";

interface LoreRowProps {
  entry: Lore;
  title: string | undefined;
  name: string;
  /** Where the row stands, counted from 0. */
  place: number;
  top: number;
  height: number;
  isChosen: boolean;
  readOnly: boolean;
  mayOrder: boolean;
  onChosen: (on: boolean) => void;
  onOpen: () => void;
}

/** An entry is called by its title if it has one, else by its keys. */
export function nameOf(entry: Lore, [title]: string[], noKeys: string): string {
  return title ?? (entry.keys.join(", ") || noKeys);
}

export function LoreRow({ entry, title, name, place, top, height, isChosen, readOnly, mayOrder, onChosen, onOpen }: LoreRowProps) {
  const w = useWords(libraryWords);
  const row = useSortableRow(entry.id, readOnly || !mayOrder);
  const { style, ...sortable } = rowOf(row);
  return (
    <div
      {...sortable}
      role="row"
      aria-rowindex={place + 2}
      className={styles.entry}
      style={{ ...style, position: "absolute", top, height }}
      data-off={!entry.enabled || undefined}
      data-chosen={isChosen || undefined}
    >
      <span role="cell">
        {!readOnly && mayOrder && <DragHandle row={row} id={entry.id} name={name} />}
      </span>
      <span role="cell">
        {!readOnly && (
          <Checkbox
            size="xs"
            aria-label={w.select(name)}
            checked={isChosen}
            onChange={(event) => onChosen(event.currentTarget.checked)}
          />
        )}
      </span>
      <span role="cell" className={styles.names}>
        <UnstyledButton className={styles.open} onClick={onOpen}>
          <Text size="sm" fw={500} truncate c={entry.keys.length === 0 ? "dimmed" : undefined}>
            {title && `${title} · `}
            {entry.keys.join(", ") || w.noKeys}
          </Text>
          <Text size="xs" c="dimmed" truncate>
            {entry.content}
          </Text>
        </UnstyledButton>
      </span>
      <span role="cell" className={styles.wide}>
        <States entry={entry} />
      </span>
      <span role="cell" className={styles.number}>
        {tokensOf(entry.content)}
      </span>
      <span role="cell" className={`${styles.number} ${styles.wide}`}>
        {entry.priority}
      </span>
    </div>
  );
}

function States({ entry }: { entry: Lore }) {
  const { stateOf } = useWords(libraryWords);
  const states = [
    ...(entry.enabled ? [] : [stateOf.off]),
    ...(entry.constant ? [stateOf.always] : []),
    ...(entry.use_regex ? [stateOf.regex] : []),
  ];
  return (states.length === 0 ? [stateOf.on] : states).map((label) => (
    <Badge key={label} size="sm" variant="default" mr={4} tt="none">
      {label}
    </Badge>
  ));
}
