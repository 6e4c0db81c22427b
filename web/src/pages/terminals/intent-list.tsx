/** The intents of a catalog in their order: dragged, moved by keys, added, removed, and opened to be edited. */

import { Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";
import { useState } from "react";

import { type IntentDraft, moved, newIntent } from "~/pages/terminals/catalog";
import { IntentRow, useIntentName } from "~/pages/terminals/intent-row";
import type { CatalogEdit } from "~/pages/terminals/use-catalog";
import { Sortable } from "~/parts/sortable";
import { terminalWords } from "~/words/terminals";
import { useWords } from "~/words/words";

/** So many rows are drawn until all are asked for: a catalog may have a thousand. */
const MOST_ROWS = 60;

export function IntentList({ catalog }: { catalog: CatalogEdit }) {
  const w = useWords(terminalWords).catalog;
  const [opened, setOpened] = useState<string | null>(null);
  const [wanted, setWanted] = useState("");
  const [all, setAll] = useState(false);
  const { drafts, change } = catalog;
  const found = drafts.filter(({ id, name }) => `${id} ${name}`.toLowerCase().includes(wanted.trim().toLowerCase()));
  const most = all ? found.length : MOST_ROWS;
  const add = () => {
    const intent = newIntent(drafts);
    change([...drafts, intent]);
    setWanted("");
    setAll(true);
    setOpened(intent.key);
  };
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <TextInput
          size="xs"
          aria-label={w.filter}
          placeholder={w.filter}
          value={wanted}
          onChange={(event) => setWanted(event.currentTarget.value)}
          style={{ flex: 1 }}
        />
        <Button size="xs" variant="light" leftSection={<IconPlus size={14} aria-hidden />} onClick={add}>
          {w.add}
        </Button>
      </Group>
      {found.length === 0 && (
        <Text size="sm" c="dimmed">
          {drafts.length === 0 ? w.none : w.noneFound}
        </Text>
      )}
      <Rows catalog={catalog} found={found} most={most} opened={opened} onOpen={setOpened} />
      {most < found.length && (
        <Button size="xs" variant="subtle" onClick={() => setAll(true)}>
          {w.showAll(found.length)}
        </Button>
      )}
    </Stack>
  );
}

interface RowsProps {
  catalog: CatalogEdit;
  found: IntentDraft[];
  /** How many of them are drawn. */
  most: number;
  opened: string | null;
  onOpen: (key: string | null) => void;
}

function Rows({ catalog, found, most, opened, onOpen }: RowsProps) {
  const { drafts, change } = catalog;
  const name = useIntentName();
  const place = (key: string) => drafts.findIndex((draft) => draft.key === key);
  return (
    <Sortable
      ids={found.map(({ key }) => key)}
      nameOf={(key) => name(drafts[place(key)])}
      onMove={(key, over) => change(moved(drafts, place(key), place(over)))}
    >
      <Stack gap={6} component="ol" m={0} p={0} style={{ listStyle: "none" }}>
        {found.slice(0, most).map((draft) => (
          <IntentRow
            key={draft.key}
            draft={draft}
            mistakes={catalog.mistakes}
            opened={opened === draft.key}
            onOpen={() => onOpen(opened === draft.key ? null : draft.key)}
            onChange={(changed) => change(drafts.map((one) => (one.key === draft.key ? changed : one)))}
            onRemove={() => change(drafts.filter(({ key }) => key !== draft.key))}
          />
        ))}
      </Stack>
    </Sortable>
  );
}
