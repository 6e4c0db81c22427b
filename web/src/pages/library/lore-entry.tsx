/** One entry of a lore, and whether a text would wake it. */

import { Button, Group, NumberInput, Stack, Switch, TagsInput, Text, Textarea } from "@mantine/core";
import { type FormEvent, useState } from "react";

import { Dialog } from "~/parts/dialog";
import { commonWords } from "~/words/common";
import { libraryWords } from "~/words/library";
import { useWords } from "~/words/words";
import { SizeLine } from "./inputs";
import styles from "./library.module.css";
import { type Lore, wakes } from "./wake";

const MOST_KEYS = 50;
const MOST_PATTERNS = 8;

interface EntryDialogProps {
  entry: Lore;
  readOnly: boolean;
  isSaving: boolean;
  onSave: (entry: Lore) => void;
  onClose: () => void;
}

export function EntryDialog({ entry, readOnly, isSaving, onSave, onClose }: EntryDialogProps) {
  const w = useWords(libraryWords);
  const common = useWords(commonWords);
  const [draft, setDraft] = useState(entry);
  const change = (part: Partial<Lore>) => setDraft((now) => ({ ...now, ...part }));
  const tooMany = draft.use_regex && draft.keys.length > MOST_PATTERNS;
  const valid = draft.content.trim() !== "" && !tooMany;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (valid && !readOnly) onSave(draft);
  };
  return (
    <Dialog opened onClose={onClose} title={w.entryTitle} size="lg">
      <form onSubmit={submit}>
        <Stack gap="sm">
          <Keys draft={draft} change={change} readOnly={readOnly} tooMany={tooMany} />
          <div>
            <Textarea
              label={w.content}
              value={draft.content}
              readOnly={readOnly}
              autosize
              minRows={4}
              maxRows={14}
              maxLength={4000}
              required={!readOnly}
              error={draft.content !== entry.content && draft.content.trim() === "" ? w.contentNeeded : undefined}
              onChange={(event) => change({ content: event.currentTarget.value })}
            />
            <SizeLine texts={[draft.content]} />
          </div>
          <Group gap="lg">
            <Switch
              label={w.enabled}
              checked={draft.enabled}
              disabled={readOnly}
              onChange={(event) => change({ enabled: event.currentTarget.checked })}
            />
            <Switch
              label={w.constant}
              checked={draft.constant}
              disabled={readOnly}
              onChange={(event) => change({ constant: event.currentTarget.checked })}
            />
            <NumberInput
              label={w.priority}
              w={110}
              min={0}
              max={1000}
              allowDecimal={false}
              readOnly={readOnly}
              value={draft.priority}
              onChange={(priority) => change({ priority: Number(priority) || 0 })}
            />
          </Group>
          <WakeTest entry={draft} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {readOnly ? common.close : common.cancel}
            </Button>
            {!readOnly && (
              <Button type="submit" loading={isSaving} disabled={!valid}>
                {common.save}
              </Button>
            )}
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

interface KeysProps {
  draft: Lore;
  change: (part: Partial<Lore>) => void;
  readOnly: boolean;
  tooMany: boolean;
}

function Keys({ draft, change, readOnly, tooMany }: KeysProps) {
  const w = useWords(libraryWords);
  return (
    <>
      <TagsInput
        label={w.keys}
        description={w.keysHint}
        value={draft.keys}
        readOnly={readOnly}
        maxTags={MOST_KEYS}
        // A pattern may have a comma.
        splitChars={draft.use_regex ? [] : [",", "，"]}
        error={tooMany ? w.tooManyPatterns : undefined}
        acceptValueOnBlur
        // There is nothing to choose from, and Escape is for the dialog.
        dropdownOpened={false}
        data-autofocus
        onChange={(keys) => change({ keys })}
      />
      <Switch
        label={w.useRegex}
        checked={draft.use_regex}
        disabled={readOnly}
        onChange={(event) => change({ use_regex: event.currentTarget.checked })}
      />
      {!draft.use_regex && (
        <TagsInput
          label={w.secondary}
          description={w.secondaryHint}
          value={draft.secondary_keys}
          readOnly={readOnly}
          maxTags={MOST_KEYS}
          splitChars={[",", "，"]}
          acceptValueOnBlur
          dropdownOpened={false}
          onChange={(secondary_keys) => change({ secondary_keys })}
        />
      )}
    </>
  );
}

function WakeTest({ entry }: { entry: Lore }) {
  const w = useWords(libraryWords);
  const [text, setText] = useState("");
  const waking = wakes(entry, text);
  const color = waking === "woken" || waking === "constant" ? "green" : "dimmed";
  return (
    <div className={styles.inset}>
      <Textarea
        label={w.wakeTest}
        placeholder={w.wakeTestHint}
        value={text}
        autosize
        minRows={1}
        maxRows={5}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Text size="sm" mt={4} c={color} role="status" mih={22}>
        {text.trim() && w.waking[waking]}
      </Text>
    </div>
  );
}
