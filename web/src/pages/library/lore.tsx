/** The lore of a character or background: a table to search, order and change many entries at once. */

import { Button, FileButton, Group, Stack, Text, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { IconFileImport, IconPlus, IconSearch } from "@tabler/icons-react";
import { useMemo, useState } from "react";

import { useAccess } from "~/access";
import { showProblem } from "~/parts/problem";
import { commonWords } from "~/words/common";
import { libraryWords } from "~/words/library";
import { useWords } from "~/words/words";
import type { Kind } from "./fields";
import { addLore } from "./import-lorebook";
import { LoreBatch } from "./lore-batch";
import { EntryDialog } from "./lore-entry";
import { emptyEntry, matching, MOST_ENTRIES, put, reordered, totals } from "./lore-list";
import { LoreTable } from "./lore-table";
import { titlesOf } from "./lore-title";
import styles from "./library.module.css";
import { Notes } from "./notes";
import type { Preset } from "./queries";
import { useLore } from "./use-lore";
import type { Lore } from "./wake";

export function LoreTab({ kind, preset }: { kind: Kind; preset: Preset }) {
  const w = useWords(libraryWords);
  const { isServerOwner } = useAccess();
  const state = useLore(kind, preset);
  const [search, setSearch] = useState("");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [opened, setOpened] = useState<Lore | null>(null);
  const titles = useMemo(() => titlesOf(preset), [preset]);
  const shown = matching(state.lore, search, titles);
  const kept = new Set(state.lore.map((entry) => entry.id).filter((id) => chosen.has(id)));
  const sum = totals(state.lore);
  const store = async (entry: Lore) => {
    if (await state.save(put(state.lore, entry))) setOpened(null);
  };
  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="xs">
        <Text size="sm" c="dimmed" data-testid="lore-totals">
          {w.loreTotals(state.lore.length, sum.enabled, sum.constant)}
        </Text>
        {isServerOwner && (
          <Tools kind={kind} presetId={preset.id} full={state.lore.length >= MOST_ENTRIES} onAdd={() => setOpened(emptyEntry())} />
        )}
      </Group>
      {state.lore.length > 0 && (
        <TextInput
          aria-label={w.searchLore}
          placeholder={w.searchLore}
          size="xs"
          leftSection={<IconSearch size={14} aria-hidden />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
      )}
      {isServerOwner && <LoreBatch state={state} chosen={kept} onChosen={setChosen} />}
      {state.lore.length === 0 ? (
        <Text size="sm" c="dimmed" py="md">
          {w.loreEmpty}
        </Text>
      ) : (
        <LoreTable
          lore={shown}
          titles={titles}
          chosen={kept}
          readOnly={!isServerOwner}
          mayOrder={search.trim() === ""}
          onChosen={setChosen}
          onMove={(id, over) => void state.save(reordered(state.lore, id, over))}
          onOpen={setOpened}
        />
      )}
      {search.trim() !== "" && isServerOwner && (
        <Text size="xs" c="dimmed">
          {w.orderHint}
        </Text>
      )}
      {opened && (
        <EntryDialog
          entry={opened}
          readOnly={!isServerOwner}
          isSaving={state.isSaving}
          onSave={(entry) => void store(entry)}
          onClose={() => setOpened(null)}
        />
      )}
    </Stack>
  );
}

interface ToolsProps {
  kind: Kind;
  presetId: string;
  full: boolean;
  onAdd: () => void;
}

function Tools({ kind, presetId, full, onAdd }: ToolsProps) {
  const w = useWords(libraryWords);
  const common = useWords(commonWords);
  const add = useMutation({
    mutationFn: (file: File) => addLore(kind, presetId, file),
    onError: showProblem,
  });
  return (
    <>
      <Group gap="xs">
        <FileButton accept=".json,.png,.charx" onChange={(file) => file && add.mutate(file)}>
          {(props) => (
            <Button
              {...props}
              size="xs"
              variant="default"
              leftSection={<IconFileImport size={14} aria-hidden />}
              loading={add.isPending}
            >
              {w.importLore}
            </Button>
          )}
        </FileButton>
        <Button
          size="xs"
          variant="light"
          leftSection={<IconPlus size={14} aria-hidden />}
          onClick={() => (full ? showProblem(w.tooManyEntries(MOST_ENTRIES)) : onAdd())}
        >
          {w.addEntry}
        </Button>
      </Group>
      {add.data && (
        <div className={styles.inset} role="status">
          <Text size="sm" fw={600}>
            {w.loreAdded(add.data.added, w.lore)}
          </Text>
          <Notes notes={add.data.notes} />
          <Button size="compact-xs" variant="subtle" onClick={add.reset}>
            {common.close}
          </Button>
        </div>
      )}
    </>
  );
}
