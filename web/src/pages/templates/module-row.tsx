/** A module in the list: dragged by its handle, switched on and off, opened by its name. */

import { Switch, Text, Tooltip, UnstyledButton } from "@mantine/core";
import { IconAlertTriangle, IconRefresh } from "@tabler/icons-react";

import { DragHandle, rowOf, useSortableRow } from "~/parts/sortable";
import { templateWords } from "~/words/templates";
import { useWords } from "~/words/words";
import { changed, type DraftModule, variablesOf } from "./draft";
import type { Leftover } from "./leftovers";
import { type Editing, ModuleForm } from "./module-form";
import styles from "./templates.module.css";
import type { Size } from "./use-preview";

interface ModuleRowProps extends Editing {
  module: DraftModule;
  mistakes: string[];
  leftovers: Leftover[];
  size: Size | undefined;
  isOpen: boolean;
  onOpen: (key: string | null) => void;
}

export function ModuleRow({ module, mistakes, leftovers, size, isOpen, onOpen, ...editing }: ModuleRowProps) {
  const w = useWords(templateWords);
  const { key, name, enabled } = module;
  const { draft, edit, readOnly, variables } = editing;
  const row = useSortableRow(key, readOnly);
  const changing = variablesOf(module).some((used) => variables.find((one) => one.name === used)?.changing);
  return (
    <li
      {...rowOf(row)}
      className={styles.module}
      data-open={isOpen || undefined}
      data-off={!enabled || undefined}
      data-wrong={mistakes.length > 0 || undefined}
    >
      <div className={styles.row}>
        {!readOnly && <DragHandle row={row} id={key} name={name} />}
        <UnstyledButton
          className={styles.name}
          aria-expanded={isOpen}
          onClick={() => onOpen(isOpen ? null : key)}
        >
          <span className={styles.title}>
            <Text size="sm" fw={500} truncate>
              {name || w.newModule}
            </Text>
            {mistakes.length > 0 && <IconAlertTriangle size={14} className={styles.wrong} aria-label={w.mistakes} role="img" />}
          </span>
          <Text size="xs" c={mistakes.length > 0 ? "red" : "dimmed"} truncate>
            {mistakes[0] ?? (module.text.replace(/\s+/g, " ").trim() || "…")}
          </Text>
        </UnstyledButton>
        {changing && (
          <Tooltip label={w.changes} multiline maw={260}>
            <IconRefresh size={13} className={styles.mark} aria-label={w.changes} role="img" />
          </Tooltip>
        )}
        <SizeNote size={size} enabled={enabled} />
        {!readOnly && (
          <Switch
            size="xs"
            checked={enabled}
            aria-label={w.on(name)}
            onChange={(event) => edit(changed(draft, key, { enabled: event.currentTarget.checked }))}
          />
        )}
      </div>
      {isOpen && <ModuleForm module={module} mistakes={mistakes} leftovers={leftovers} {...editing} />}
    </li>
  );
}

function SizeNote({ size, enabled }: { size: Size | undefined; enabled: boolean }) {
  const w = useWords(templateWords);
  const said = enabled && size && size.characters > 0;
  return (
    <Text size="xs" c="dimmed" className={styles.size} title={said ? w.sizeLong(size.tokens, size.characters) : undefined}>
      {!enabled ? w.off : said ? w.size(size.tokens, size.characters) : size ? w.notSaid : ""}
    </Text>
  );
}
