import { Badge, Button, Group, Text, Textarea } from "@mantine/core";

import { excessOf, lengthOf } from "~/parts/limits";
import { commonWords } from "~/words/common";
import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import { useDraft } from "./drafts";

interface DraftAreaProps {
  id: string;
  label: string;
  saved: string;
  most: number;
  mayBeEmpty?: boolean;
  submit: string;
  pending: boolean;
  onSave: (text: string) => void;
}

/** A text that is edited in its place. */
export function DraftArea({ id, label, saved, most, mayBeEmpty, submit, pending, onSave }: DraftAreaProps) {
  const w = useWords(soulWords);
  const common = useWords(commonWords);
  const draft = useDraft(id, saved);
  const over = excessOf(draft.text, most);
  const isReady = draft.isChanged && over === 0 && (mayBeEmpty || draft.text.trim() !== "");
  return (
    <>
      <Textarea
        aria-label={label}
        value={draft.text}
        error={over > 0 && common.tooLong(over, most)}
        autosize
        minRows={5}
        maxRows={16}
        onChange={(event) => draft.write(event.currentTarget.value)}
      />
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <Text size="xs" c="dimmed">
            {lengthOf(draft.text)} / {most}
          </Text>
          {draft.isChanged && (
            <Badge variant="light" color="yellow" tt="none">
              {w.unsaved}
            </Badge>
          )}
        </Group>
        <Group gap="xs">
          {draft.isChanged && (
            <Button size="xs" variant="default" onClick={draft.discard}>
              {w.discard}
            </Button>
          )}
          <Button size="xs" loading={pending} disabled={!isReady} onClick={() => onSave(draft.text.trim())}>
            {submit}
          </Button>
        </Group>
      </Group>
    </>
  );
}
