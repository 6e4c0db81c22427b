/** The open module: its name, layer and text. */

import { ActionIcon, Group, SegmentedControl, Select, Stack, Text, TextInput, Tooltip } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconTrash } from "@tabler/icons-react";

import { templateWords } from "~/words/templates";
import { useWords } from "~/words/words";
import type { Variable } from "./completion";
import { changed, type Draft, type DraftModule, inLayer, type Kind, type Layer, LAYERS, nudged, removed } from "./draft";
import type { Leftover } from "./leftovers";
import { LeftoversOfModule } from "./leftovers-note";
import styles from "./templates.module.css";
import { VariableText } from "./variable-text";

export interface Editing {
  draft: Draft;
  edit: (draft: Draft, tag?: string) => void;
  readOnly: boolean;
  variables: readonly Variable[];
}

interface ModuleFormProps extends Editing {
  module: DraftModule;
  mistakes: string[];
  leftovers: Leftover[];
}

export function ModuleForm({ module, mistakes, leftovers, draft, edit, readOnly, variables }: ModuleFormProps) {
  const w = useWords(templateWords);
  const change = (part: Partial<DraftModule>, field = "") =>
    edit(changed(draft, module.key, part), field && `${module.key}.${field}`);
  return (
    <Stack gap="xs" className={styles.form}>
      {mistakes.length > 0 && (
        <div role="alert" className={styles.mistakes}>
          {mistakes.map((mistake) => (
            <Text key={mistake} size="xs">
              {mistake}
            </Text>
          ))}
        </div>
      )}
      <Group gap="xs" align="flex-end" wrap="wrap">
        <TextInput
          label={w.moduleName}
          value={module.name}
          readOnly={readOnly}
          maxLength={60}
          size="xs"
          className={styles.grow}
          onChange={(event) => change({ name: event.currentTarget.value }, "name")}
        />
        <Select
          label={w.layer}
          data={LAYERS.map((layer) => ({ value: String(layer), label: w.layerName(layer, w.layers[layer]) }))}
          value={String(module.layer)}
          readOnly={readOnly}
          allowDeselect={false}
          size="xs"
          className={styles.grow}
          onChange={(layer) => layer && edit(inLayer(draft, module.key, Number(layer) as Layer))}
        />
      </Group>
      <Group gap="xs" justify="space-between">
        <SegmentedControl
          aria-label={w.kind}
          size="xs"
          bg="var(--panel)"
          readOnly={readOnly}
          data={[
            { value: "template", label: w.withVariables },
            { value: "content", label: w.asIs },
          ]}
          value={module.kind}
          onChange={(kind) => change({ kind: kind as Kind })}
        />
        {!readOnly && <Actions module={module} draft={draft} edit={edit} />}
      </Group>
      <VariableText
        label={w.text}
        value={module.text}
        layer={module.layer}
        variables={variables}
        readOnly={readOnly}
        onChange={(text) => change({ text }, "text")}
        onVariable={(text) => change({ text, kind: "template" })}
      />
      <LeftoversOfModule leftovers={leftovers} />
    </Stack>
  );
}

function Actions({ module, draft, edit }: Pick<ModuleFormProps, "module" | "draft" | "edit">) {
  const w = useWords(templateWords);
  const actions = [
    { label: w.moveUp, icon: IconArrowUp, color: "gray", act: () => nudged(draft, module.key, -1) },
    { label: w.moveDown, icon: IconArrowDown, color: "gray", act: () => nudged(draft, module.key, 1) },
    { label: w.deleteModule, icon: IconTrash, color: "red", act: () => removed(draft, module.key) },
  ];
  return (
    <Group gap={2}>
      {actions.map(({ label, icon: Icon, color, act }) => (
        <Tooltip key={label} label={label}>
          <ActionIcon variant="subtle" color={color} aria-label={`${label}: ${module.name}`} onClick={() => edit(act())}>
            <Icon size={16} aria-hidden />
          </ActionIcon>
        </Tooltip>
      ))}
    </Group>
  );
}
