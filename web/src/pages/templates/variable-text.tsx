/** A text in which variables are completed while `{{` is typed. */

import { Badge, Group, Popover, Text, Textarea } from "@mantine/core";
import { type KeyboardEvent, useId, useLayoutEffect, useRef, useState } from "react";

import { templateWords } from "~/words/templates";
import { useWords } from "~/words/words";
import { candidates, completed, fits, openVariable, type Variable } from "./completion";
import type { Layer } from "./draft";
import styles from "./templates.module.css";

interface VariableTextProps {
  label: string;
  value: string;
  layer: Layer;
  variables: readonly Variable[];
  readOnly: boolean;
  error?: string;
  onChange: (text: string) => void;
  /** A variable was chosen: the text is no longer said as it is. */
  onVariable: (text: string) => void;
}

export function VariableText({ label, value, layer, variables, readOnly, error, onChange, onVariable }: VariableTextProps) {
  const w = useWords(templateWords);
  const list = useId();
  const box = useRef<HTMLTextAreaElement>(null);
  const [caret, setCaret] = useState<number | null>(null);
  const [active, setActive] = useState(0);
  const nextCaret = useRef<number | null>(null);
  const open = caret === null || readOnly ? null : openVariable(value, caret);
  const offered = open ? candidates(variables, open.typed, layer) : [];
  useLayoutEffect(() => {
    if (nextCaret.current === null) return;
    box.current?.setSelectionRange(nextCaret.current, nextCaret.current);
    nextCaret.current = null;
  }, [value]);
  const choose = (variable: Variable | undefined) => {
    if (!variable || caret === null) return;
    const whole = completed(value, caret, variable.name);
    nextCaret.current = whole.caret;
    setCaret(null);
    onVariable(whole.text);
  };
  const look = () => {
    setCaret(box.current?.selectionStart ?? null);
    setActive(0);
  };
  const steer = (event: KeyboardEvent) => {
    if (!open || event.nativeEvent.isComposing) return;
    const steps: Record<string, () => void> = {
      ArrowDown: () => setActive((active + 1) % Math.max(1, offered.length)),
      ArrowUp: () => setActive((active + offered.length - 1) % Math.max(1, offered.length)),
      Enter: () => choose(offered[active]),
      Tab: () => choose(offered[active]),
      Escape: () => setCaret(null),
    };
    const step = steps[event.key];
    if (!step || (offered.length === 0 && event.key !== "Escape")) return;
    event.preventDefault();
    event.stopPropagation();
    step();
  };
  return (
    <Popover opened={open !== null} position="bottom-start" width="target" withRoles={false} trapFocus={false} shadow="md">
      <Popover.Target>
        <Textarea
          ref={box}
          size="xs"
          label={label}
          description={readOnly ? undefined : w.textHint}
          value={value}
          readOnly={readOnly}
          error={error}
          autosize
          minRows={3}
          maxRows={18}
          spellCheck={false}
          classNames={{ input: styles.text }}
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-controls={open ? list : undefined}
          aria-activedescendant={open && offered[active] ? `${list}-${active}` : undefined}
          onChange={(event) => {
            onChange(event.currentTarget.value);
            look();
          }}
          onKeyDown={steer}
          onClick={look}
          onBlur={() => setCaret(null)}
        />
      </Popover.Target>
      <Popover.Dropdown p={4}>
        <Offered list={list} offered={offered} active={active} layer={layer} onChoose={choose} />
      </Popover.Dropdown>
    </Popover>
  );
}

interface OfferedProps {
  list: string;
  offered: Variable[];
  active: number;
  layer: Layer;
  onChoose: (variable: Variable) => void;
}

function Offered({ list, offered, active, layer, onChoose }: OfferedProps) {
  const w = useWords(templateWords);
  if (offered.length === 0) {
    return (
      <Text size="sm" c="dimmed" p="xs">
        {w.noVariable}
      </Text>
    );
  }
  return (
    <div role="listbox" id={list} aria-label={w.variables} className={styles.options}>
      {offered.map((variable, at) => (
        <div
          key={variable.name}
          id={`${list}-${at}`}
          role="option"
          aria-selected={at === active}
          className={styles.option}
          ref={(row) => {
            if (at === active) row?.scrollIntoView({ block: "nearest" });
          }}
          // The text keeps the focus, and its caret.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onChoose(variable)}
        >
          <Group gap="xs" wrap="nowrap" justify="space-between">
            <Text size="sm" ff="monospace" c={fits(variable, layer) ? undefined : "dimmed"}>
              {variable.name}
            </Text>
            <Badge size="xs" variant="light" color={fits(variable, layer) ? "gray" : "orange"} className={styles.keep}>
              {variable.layer === 0
                ? w.anyLayer
                : fits(variable, layer)
                  ? w.layerName(variable.layer, w.layers[layer])
                  : w.otherLayer(variable.layer)}
            </Badge>
          </Group>
          <Text size="xs" c="dimmed">
            {w.meanings[variable.name] ?? variable.meaning}
          </Text>
        </div>
      ))}
    </div>
  );
}
