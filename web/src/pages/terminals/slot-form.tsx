/** One parameter of an intent. */

import { ActionIcon, Group, NumberInput, Select, Stack, Switch, TagsInput, TextInput } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";

import { defaultOf, SLOT_TYPES, type SlotDraft, type SlotType, wordsIn } from "~/pages/terminals/catalog";
import type { Mistake } from "~/pages/terminals/catalog-mistakes";
import { useMistake } from "~/pages/terminals/intent-form";
import { terminalWords } from "~/words/terminals";
import { useWords } from "~/words/words";

import styles from "./intent-row.module.css";

interface SlotFormProps {
  slot: SlotDraft;
  mistakes: Mistake[];
  onChange: (slot: SlotDraft) => void;
  onRemove: () => void;
}

export function SlotForm({ slot, mistakes, onChange, onRemove }: SlotFormProps) {
  const w = useWords(terminalWords).catalog;
  const wrong = useMistake(mistakes, slot.key);
  const set = (changes: Partial<SlotDraft>) => onChange({ ...slot, ...changes });
  const shown = slot.default == null ? "" : String(slot.default);
  const retype = (type: SlotType) => set({ type, default: defaultOf(type, shown) });
  return (
    <Stack gap="xs" className={styles.slot}>
      <Group justify="space-between" align="center">
        <Switch
          size="xs"
          label={w.required}
          checked={slot.required}
          onChange={(event) => set({ required: event.currentTarget.checked })}
        />
        <ActionIcon variant="subtle" color="red" aria-label={w.removeSlot(slot.name || w.unnamed)} onClick={onRemove}>
          <IconTrash size={16} aria-hidden />
        </ActionIcon>
      </Group>
      <div className={styles.fields}>
        <TextInput
          size="xs"
          label={w.slotName}
          value={slot.name}
          error={wrong("name")}
          onChange={(event) => set({ name: event.currentTarget.value })}
        />
        <Select
          size="xs"
          label={w.slotType}
          value={slot.type}
          data={SLOT_TYPES.map((type) => ({ value: type, label: w.slotTypes[type] }))}
          allowDeselect={false}
          onChange={(type) => type && retype(type as SlotType)}
        />
        <TextInput
          size="xs"
          label={w.default}
          value={shown}
          error={wrong("default")}
          onChange={(event) => set({ default: defaultOf(slot.type, event.currentTarget.value) })}
        />
        <TextInput
          size="xs"
          label={w.regex}
          value={slot.regex ?? ""}
          styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
          onChange={(event) => set({ regex: event.currentTarget.value || null })}
        />
        <Bound label={w.min} value={slot.min} error={wrong("min")} onChange={(min) => set({ min })} />
        <Bound label={w.max} value={slot.max} onChange={(max) => set({ max })} />
      </div>
      <TagsInput
        size="xs"
        label={w.values}
        placeholder={slot.values.length === 0 ? w.enterHint : undefined}
        value={slot.values}
        error={wrong("values")}
        maxDropdownHeight={0}
        splitChars={[",", "，"]}
        onChange={(typed) => set({ values: wordsIn(typed) })}
      />
      <TextInput
        size="xs"
        label={w.question}
        value={slot.question ?? ""}
        onChange={(event) => set({ question: event.currentTarget.value || null })}
      />
    </Stack>
  );
}

interface BoundProps {
  label: string;
  value: number | null | undefined;
  error?: string;
  onChange: (value: number | null) => void;
}

function Bound({ label, value, error, onChange }: BoundProps) {
  return (
    <NumberInput
      size="xs"
      label={label}
      value={value ?? ""}
      error={error}
      onChange={(typed) => onChange(typed === "" ? null : Number(typed))}
    />
  );
}
