/** What of a file was not kept. */

import { List, Stack, Text } from "@mantine/core";

import { libraryWords } from "~/words/library";
import { useWords } from "~/words/words";
import styles from "./library.module.css";

export function Notes({ notes }: { notes: readonly string[] }) {
  const w = useWords(libraryWords);
  if (notes.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {w.allKept}
      </Text>
    );
  }
  return (
    <Stack gap={4} className={styles.notes}>
      <Text size="sm" fw={600}>
        {w.notKept}
      </Text>
      <List size="sm" spacing={2} data-testid="notes">
        {notes.map((note) => (
          <List.Item key={note}>{note}</List.Item>
        ))}
      </List>
    </Stack>
  );
}
