import { ActionIcon, Button, Group, Select, Stack, Text, TextInput, Title } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";

import { EMOTIONS, PRESETS, SAY, type Step, faultsOf, newStep, preset, secondsOf, spanName } from "~/pages/simulate/script";
import { usePreferences } from "~/preferences";
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
    onChange({ steps: [...steps, newStep(spanName((last ?? 0) + 8))] });
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
      <Stack gap="xs" component="ol" m={0} p={0} style={{ listStyle: "none" }}>
        {steps.map((step, index) => (
          <StepRow
            key={step.id}
            n={index + 1}
            step={step}
            onChange={put}
            onRemove={() => onChange({ steps: steps.filter((one) => one.id !== step.id) })}
          />
        ))}
      </Stack>
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

interface RowProps {
  n: number;
  step: Step;
  onChange: (step: Step) => void;
  onRemove: () => void;
}

function StepRow({ n, step, onChange, onRemove }: RowProps) {
  const w = useWords(simulateWords);
  const faults = faultsOf(step);
  const kinds = [{ value: SAY, label: w.say }, ...EMOTIONS.map((emotion) => ({ value: emotion, label: emotion }))];
  return (
    <Group gap="xs" align="flex-start" component="li" aria-label={w.step(n)}>
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
      <ActionIcon variant="subtle" color="gray" size={36} aria-label={w.removeStep(n)} onClick={onRemove}>
        <IconTrash size={16} aria-hidden />
      </ActionIcon>
    </Group>
  );
}
