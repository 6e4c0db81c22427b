/** The inputs of the forms: long texts with their size, and lists of texts. */

import { ActionIcon, Button, Group, Input, Stack, Text, Textarea, TextInput } from "@mantine/core";
import { IconPlus, IconTrash } from "@tabler/icons-react";

import { libraryWords } from "~/words/library";
import { useWords } from "~/words/words";
import { MOST } from "./fields";
import styles from "./library.module.css";
import { sizeOf } from "./tokens";

/** What a form works on, and whether it may. */
export interface FormProps<Fields> {
  fields: Fields;
  change: (part: Partial<Fields>) => void;
  mistakes: Record<string, string>;
  readOnly: boolean;
}

export function NameField({ fields, change, mistakes, readOnly }: FormProps<{ name: string }>) {
  const w = useWords(libraryWords);
  return (
    <TextInput
      label={w.name}
      value={fields.name}
      maxLength={MOST.name}
      readOnly={readOnly}
      required={!readOnly}
      error={mistakes.name}
      onChange={(event) => change({ name: event.currentTarget.value })}
    />
  );
}

interface LongTextsProps<Field extends keyof typeof MOST> extends FormProps<Record<Field, string>> {
  texts: readonly { field: Field; label: string; hint?: string; minRows?: number; sized?: boolean }[];
}

export function LongTexts<Field extends keyof typeof MOST>({ texts, fields, change, mistakes, readOnly }: LongTextsProps<Field>) {
  return texts.map(({ field, ...text }) => (
    <LongText
      key={field}
      {...text}
      value={fields[field]}
      maxLength={MOST[field]}
      readOnly={readOnly}
      error={mistakes[field]}
      onChange={(written) => change({ [field]: written } as Record<Field, string>)}
    />
  ));
}

interface LongTextProps {
  label: string;
  hint?: string;
  value: string;
  maxLength: number;
  minRows?: number;
  readOnly: boolean;
  error?: string;
  /** Whether it stands in prompts, so that its size matters. */
  sized?: boolean;
  onChange: (text: string) => void;
}

function LongText({ label, hint, sized, minRows = 2, onChange, ...input }: LongTextProps) {
  return (
    <div>
      <Textarea
        label={label}
        description={hint}
        autosize
        minRows={minRows}
        maxRows={22}
        {...input}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      {sized && <SizeLine texts={[input.value]} />}
    </div>
  );
}

export function SizeLine({ texts }: { texts: readonly string[] }) {
  const w = useWords(libraryWords);
  const { tokens, characters } = sizeOf(texts);
  return (
    <Text size="xs" c="dimmed" ta="right" mt={2}>
      {w.size(tokens, characters)}
    </Text>
  );
}

interface TextListProps {
  label: string;
  hint: string;
  /** The name of the n-th text, counted from 1. */
  itemLabel: (number: number) => string;
  addLabel: string;
  values: string[];
  most: number;
  maxLength: number;
  readOnly: boolean;
  error?: string;
  sized?: boolean;
  onChange: (values: string[]) => void;
}

export function TextList({ label, hint, itemLabel, addLabel, values, most, readOnly, error, sized, onChange, maxLength }: TextListProps) {
  const w = useWords(libraryWords);
  return (
    <Input.Wrapper label={label} description={hint} error={error} labelElement="div">
      <Stack gap={6} mt={6}>
        {values.map((value, at) => (
          <Group key={at} gap={4} wrap="nowrap" align="flex-start">
            <Textarea
              aria-label={itemLabel(at + 1)}
              className={styles.grow}
              autosize
              minRows={1}
              maxRows={12}
              maxLength={maxLength}
              value={value}
              readOnly={readOnly}
              onChange={(event) => onChange(values.with(at, event.currentTarget.value))}
            />
            {!readOnly && (
              <ActionIcon
                variant="subtle"
                color="red"
                mt={4}
                aria-label={w.remove(itemLabel(at + 1))}
                onClick={() => onChange(values.toSpliced(at, 1))}
              >
                <IconTrash size={16} aria-hidden />
              </ActionIcon>
            )}
          </Group>
        ))}
        {readOnly && values.length === 0 && (
          <Text size="sm" c="dimmed">
            {w.noneYet}
          </Text>
        )}
        <Group justify="space-between">
          {!readOnly && values.length < most ? (
            <Button
              size="compact-xs"
              variant="subtle"
              leftSection={<IconPlus size={14} aria-hidden />}
              onClick={() => onChange([...values, ""])}
            >
              {addLabel}
            </Button>
          ) : (
            <span />
          )}
          {sized && values.length > 0 && <SizeLine texts={values} />}
        </Group>
      </Stack>
    </Input.Wrapper>
  );
}
