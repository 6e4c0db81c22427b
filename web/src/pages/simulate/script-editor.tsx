import { ActionIcon, Button, Group, Select, Stack, Text, TextInput, Title } from "@mantine/core";
import { IconCopy, IconPlus, IconTrash } from "@tabler/icons-react";
import { useRef, useState } from "react";

import { feelingName } from "~/pages/simulate/heard";
import {
  doubled,
  EMOTIONS,
  faultsOf,
  moved,
  newStep,
  PAUSE_S,
  preset,
  PRESETS,
  SAY,
  secondsOf,
  spanName,
  type Step,
  type What,
} from "~/pages/simulate/script";
import { DragHandle, rowOf, Sortable, useSortableRow } from "~/parts/sortable";
import { usePreferences } from "~/preferences";
import { emotionWords } from "~/words/emotions";
import { simulateWords } from "~/words/simulate";
import { useWords } from "~/words/words";

interface EditorProps {
  steps: Step[];
  until: string;
  onChange: (change: { steps?: Step[]; until?: string }) => void;
}

export function ScriptEditor({ steps, until, onChange }: EditorProps) {
  const w = useWords(simulateWords);
  const lang = usePreferences((state) => state.lang);
  const put = (changed: Step) => onChange({ steps: steps.map((step) => (step.id === changed.id ? changed : step)) });
  const next = () => {
    const last = steps.length ? secondsOf(steps.at(-1)?.at ?? "") : 0;
    onChange({ steps: [...steps, newStep(spanName((last ?? 0) + PAUSE_S))] });
  };
  const list = useRef<HTMLDivElement>(null);
  const [said, setSaid] = useState("");
  const nameOf = useNames(steps);
  const double = (id: string, place: number) => {
    onChange({ steps: doubled(steps, id) });
    setSaid(w.doubled(nameOf(id), place + 2));
  };
  const remove = (id: string, place: number) => {
    onChange({ steps: steps.filter((one) => one.id !== id) });
    setSaid(w.removed(nameOf(id), steps.length - 1));
    // Whoever removes by keyboard goes on at the neighbour.
    const neighbour = list.current?.children[place + 1] ?? list.current?.children[place - 1];
    neighbour?.querySelector<HTMLElement>("[data-remove]")?.focus();
  };
  return (
    <Stack gap="sm" component="section" aria-label={w.script}>
      <Title order={2} size="h5">
        {w.script}
      </Title>
      <Group gap="xs" role="group" aria-label={w.presets}>
        {(Object.keys(PRESETS) as (keyof typeof PRESETS)[]).map((name) => (
          <Button
            key={name}
            size="compact-sm"
            variant="light"
            onClick={() => onChange({ steps: preset(name, lang), until: "" })}
          >
            {w[name]}
          </Button>
        ))}
      </Group>
      <Sortable
        ids={steps.map((step) => step.id)}
        nameOf={nameOf}
        onMove={(id, over) => onChange({ steps: moved(steps, id, over) })}
      >
        <Stack gap="xs" component="ol" m={0} p={0} style={{ listStyle: "none" }} ref={list}>
          {steps.map((step, index) => (
            <StepRow
              key={step.id}
              n={index + 1}
              name={nameOf(step.id)}
              step={step}
              onChange={put}
              onDouble={() => double(step.id, index)}
              onRemove={() => remove(step.id, index)}
            />
          ))}
        </Stack>
      </Sortable>
      <div role="status" className="visually-hidden">
        {said}
      </div>
      <Group justify="space-between" align="flex-end">
        <Button variant="default" size="sm" leftSection={<IconPlus size={16} aria-hidden />} onClick={next}>
          {w.addStep}
        </Button>
        <TextInput
          label={w.until}
          description={w.untilHint}
          value={until}
          onChange={(event) => onChange({ until: event.currentTarget.value })}
          error={until.trim() !== "" && secondsOf(until) === null && w.badTime}
          w={260}
          maw="100%"
        />
      </Group>
      <Text size="xs" c="dimmed">
        {w.atHint}
      </Text>
    </Stack>
  );
}

/** What a step is called: its words, or what is felt in it. */
function useNames(steps: Step[]): (id: string) => string {
  const w = useWords(simulateWords);
  const emotions = useWords(emotionWords);
  return (id) => {
    const place = steps.findIndex((one) => one.id === id);
    const step = steps[place];
    if (!step) return "";
    return (step.what === SAY ? step.words.trim() : feelingName(step.what, emotions, w)) || w.step(place + 1);
  };
}

interface RowProps {
  n: number;
  name: string;
  step: Step;
  onChange: (step: Step) => void;
  onDouble: () => void;
  onRemove: () => void;
}

function StepRow({ n, name, step, onChange, onDouble, onRemove }: RowProps) {
  const w = useWords(simulateWords);
  const emotions = useWords(emotionWords);
  const faults = faultsOf(step);
  const row = useSortableRow(step.id);
  const feelings = EMOTIONS.map((emotion) => ({ value: emotion, label: feelingName(emotion, emotions, w) }));
  const kinds: { value: What; label: string }[] = [{ value: SAY, label: w.say }, ...feelings];
  return (
    <Group gap="xs" align="flex-start" component="li" aria-label={w.step(n)} {...rowOf(row)}>
      <DragHandle row={row} id={step.id} name={name} />
      <TextInput
        aria-label={`${w.step(n)}: ${w.at}`}
        value={step.at}
        onChange={(event) => onChange({ ...step, at: event.currentTarget.value })}
        error={faults.at && w.badTime}
        w={84}
        style={{ flex: "none" }}
      />
      <Select
        aria-label={`${w.step(n)}: ${w.what}`}
        data={kinds}
        value={step.what}
        onChange={(what) => what && onChange({ ...step, what })}
        allowDeselect={false}
        w={112}
        style={{ flex: "none" }}
      />
      {step.what === SAY ? (
        <TextInput
          aria-label={`${w.step(n)}: ${w.wordsOf}`}
          value={step.words}
          onChange={(event) => onChange({ ...step, words: event.currentTarget.value })}
          error={faults.words && w.badWords}
          maxLength={1000}
          style={{ flex: "1 1 150px" }}
        />
      ) : (
        <TextInput
          aria-label={`${w.step(n)}: ${w.intensity}`}
          placeholder="0.9"
          value={step.intensity}
          onChange={(event) => onChange({ ...step, intensity: event.currentTarget.value })}
          error={faults.intensity && w.badIntensity}
          style={{ flex: "1 1 150px" }}
        />
      )}
      <ActionIcon variant="subtle" color="gray" size={36} aria-label={w.doubleStep(n)} onClick={onDouble}>
        <IconCopy size={16} aria-hidden />
      </ActionIcon>
      <ActionIcon variant="subtle" color="gray" size={36} aria-label={w.removeStep(n)} onClick={onRemove} data-remove>
        <IconTrash size={16} aria-hidden />
      </ActionIcon>
    </Group>
  );
}
