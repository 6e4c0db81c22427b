/** What means an intent, and its parameters. */

import { Button, NumberInput, Stack, TagsInput, Text, TextInput, Title } from "@mantine/core";
import { IconPlus } from "@tabler/icons-react";

import { type IntentDraft, MATCH_LISTS, type MatchList, newSlot, type SlotDraft, wordsIn } from "~/pages/terminals/catalog";
import type { Mistake } from "~/pages/terminals/catalog-mistakes";
import { SlotForm } from "~/pages/terminals/slot-form";
import { terminalWords } from "~/words/terminals";
import { useWords } from "~/words/words";

import styles from "./intent-row.module.css";

interface IntentFormProps {
  draft: IntentDraft;
  mistakes: Mistake[];
  onChange: (draft: IntentDraft) => void;
}

/** The words for what is wrong with a field; undefined if nothing is. */
export function useMistake(mistakes: Mistake[], key: string): (field: string) => string | undefined {
  const w = useWords(terminalWords).catalog;
  return (field) => {
    const found = mistakes.find((mistake) => mistake.of === key && mistake.field === field);
    return found && w.mistake[found.code];
  };
}

export function IntentForm({ draft, mistakes, onChange }: IntentFormProps) {
  const w = useWords(terminalWords).catalog;
  const wrong = useMistake(mistakes, draft.key);
  const set = (changes: Partial<IntentDraft>) => onChange({ ...draft, ...changes });
  const setMatch = (changes: Partial<IntentDraft["match"]>) => set({ match: { ...draft.match, ...changes } });
  return (
    <Stack gap="sm" className={styles.form}>
      <div className={styles.fields}>
        <TextInput
          size="xs"
          label={w.name}
          value={draft.name}
          error={wrong("name")}
          maxLength={200}
          onChange={(event) => set({ name: event.currentTarget.value })}
        />
        <TextInput
          size="xs"
          label={w.id}
          value={draft.id}
          error={wrong("id")}
          maxLength={200}
          onChange={(event) => set({ id: event.currentTarget.value })}
        />
        <NumberInput
          size="xs"
          label={w.priority}
          value={draft.priority}
          allowDecimal={false}
          onChange={(value) => set({ priority: Number(value) || 0 })}
        />
        <NumberInput
          size="xs"
          label={w.minConfidence}
          value={draft.match.min_confidence}
          min={0}
          max={1}
          step={0.05}
          onChange={(value) => setMatch({ min_confidence: Math.min(1, Math.max(0, Number(value) || 0)) })}
        />
      </div>
      {wrong("match") && (
        <Text size="xs" c="var(--bad)">
          {wrong("match")}
        </Text>
      )}
      {MATCH_LISTS.map((list) => (
        <MatchField
          key={list}
          list={list}
          values={draft.match[list]}
          onChange={(values) => setMatch({ [list]: values })}
        />
      ))}
      <Slots draft={draft} mistakes={mistakes} onChange={onChange} />
    </Stack>
  );
}

interface MatchFieldProps {
  list: MatchList;
  values: string[];
  onChange: (values: string[]) => void;
}

function MatchField({ list, values, onChange }: MatchFieldProps) {
  const w = useWords(terminalWords).catalog;
  const pattern = list.startsWith("regex");
  const keywords = list.includes("keywords");
  return (
    <TagsInput
      size="xs"
      label={w[list]}
      placeholder={values.length === 0 ? w.enterHint : undefined}
      value={values}
      onChange={(typed) => onChange(keywords ? wordsIn(typed) : typed)}
      maxDropdownHeight={0}
      splitChars={keywords ? [",", "，"] : []}
      styles={pattern ? { input: { fontFamily: "var(--mantine-font-family-monospace)" } } : undefined}
    />
  );
}

function Slots({ draft, mistakes, onChange }: IntentFormProps) {
  const w = useWords(terminalWords).catalog;
  const { slots } = draft;
  const set = (changed: SlotDraft[]) => onChange({ ...draft, slots: changed });
  return (
    <Stack gap="xs">
      <Title order={3} size="h6">
        {w.slots}
      </Title>
      {slots.map((slot) => (
        <SlotForm
          key={slot.key}
          slot={slot}
          mistakes={mistakes}
          onChange={(changed) => set(slots.map((one) => (one.key === slot.key ? changed : one)))}
          onRemove={() => set(slots.filter(({ key }) => key !== slot.key))}
        />
      ))}
      <Button
        size="xs"
        variant="subtle"
        leftSection={<IconPlus size={14} aria-hidden />}
        onClick={() => set([...slots, newSlot()])}
        style={{ alignSelf: "flex-start" }}
      >
        {w.addSlot}
      </Button>
    </Stack>
  );
}
