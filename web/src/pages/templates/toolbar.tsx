/** The head of a template: its name, who speaks, and what can be done with it. */

import { ActionIcon, Badge, Button, Group, Progress, Select, Text, TextInput, Tooltip } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { IconArrowBackUp, IconArrowForwardUp, IconCopy } from "@tabler/icons-react";

import { ChangedElsewhere, Unsaved } from "~/parts/conflict";
import { commonWords } from "~/words/common";
import { templateWords } from "~/words/templates";
import { useWords } from "~/words/words";
import { DeleteTemplate } from "./delete-template";
import { bodyOf, freeName, MOST_OWN_TEXT, ownText, type Stored } from "./draft";
import { Meanwhile } from "./meanwhile";
import { useCreate } from "./queries";
import styles from "./templates.module.css";
import type { Drafting } from "./use-draft";

interface ToolbarProps {
  template: Stored;
  drafting: Drafting;
  /** Others have deleted it. */
  isGone: boolean;
  readOnly: boolean;
  mayCreate: boolean;
  names: string[];
}

export function Toolbar({ template, drafting, isGone, readOnly, mayCreate, names }: ToolbarProps) {
  const w = useWords(templateWords);
  const { draft, edit } = drafting;
  return (
    <>
      <Group gap="xs" align="flex-end">
        <TextInput
          label={w.name}
          size="xs"
          value={draft.name}
          readOnly={readOnly}
          maxLength={80}
          className={styles.grow}
          onChange={(event) => edit({ ...draft, name: event.currentTarget.value }, "name")}
        />
        <Select
          label={w.voice}
          size="xs"
          w={130}
          data={Object.entries(w.voices).map(([value, label]) => ({ value, label }))}
          value={draft.voice}
          readOnly={readOnly}
          allowDeselect={false}
          onChange={(voice) => voice && edit({ ...draft, voice: voice as Stored["voice"] })}
        />
      </Group>
      <div className={styles.tools}>
        {readOnly ? <Badge variant="light">{template.shipped ? w.shipped : w.readOnly}</Badge> : <Saving drafting={drafting} />}
        <Group gap={4}>
          {mayCreate && <CopyButton template={template} drafting={drafting} names={names} />}
          {!readOnly && !isGone && <DeleteTemplate template={template} />}
        </Group>
      </div>
      {readOnly && (
        <Text size="xs" c="dimmed">
          {mayCreate ? w.shippedHint : w.forbiddenHint}
        </Text>
      )}
      {!readOnly && <OwnText count={ownText(draft)} />}
      <ChangedElsewhere shown={drafting.changedElsewhere} />
      <div role="status">
        {isGone && (
          <Text size="xs" c="orange">
            {w.deletedElsewhere}
          </Text>
        )}
      </div>
      <Meanwhile drafting={drafting} />
    </>
  );
}

function Saving({ drafting }: { drafting: Drafting }) {
  const w = useWords(templateWords);
  const common = useWords(commonWords);
  const { unsaved, saving, save } = drafting;
  const trySave = () => unsaved && !saving.isPending && save();
  // Inside of a text the browser's own undo takes back letters.
  useHotkeys([
    ["mod+Z", () => drafting.undo?.()],
    ["mod+shift+Z", () => drafting.redo?.()],
  ]);
  useHotkeys([["mod+S", trySave]], []);
  const steps = [
    { label: w.undo, icon: IconArrowBackUp, act: drafting.undo },
    { label: w.redo, icon: IconArrowForwardUp, act: drafting.redo },
  ];
  return (
    <Group gap={6} className={styles.saving}>
      <Button size="xs" onClick={trySave} loading={saving.isPending} disabled={!unsaved}>
        {common.save}
      </Button>
      {steps.map(({ label, icon: Icon, act }) => (
        <Tooltip key={label} label={label}>
          <ActionIcon variant="subtle" color="gray" aria-label={label} disabled={!act} onClick={() => act?.()}>
            <Icon size={18} aria-hidden />
          </ActionIcon>
        </Tooltip>
      ))}
      <Unsaved editing={drafting} />
    </Group>
  );
}

function CopyButton({ template, drafting, names }: Pick<ToolbarProps, "template" | "drafting" | "names">) {
  const w = useWords(templateWords);
  const create = useCreate();
  const name = freeName(w.copyOf(template.name), names).slice(0, 80);
  return (
    <Button
      size="xs"
      variant={template.shipped ? "light" : "subtle"}
      leftSection={<IconCopy size={14} aria-hidden />}
      loading={create.isPending}
      onClick={() => create.mutate({ ...bodyOf(drafting.draft), name })}
    >
      {w.copyTemplate}
    </Button>
  );
}

function OwnText({ count }: { count: number }) {
  const w = useWords(templateWords);
  const over = count > MOST_OWN_TEXT;
  const label = w.ownText(count, MOST_OWN_TEXT);
  return (
    <div>
      <Text size="xs" c={over ? "red" : "dimmed"}>
        {label}
      </Text>
      <Progress value={Math.min(100, (100 * count) / MOST_OWN_TEXT)} color={over ? "red" : "soul"} size={4} aria-label={label} />
    </div>
  );
}
