/** A sentence to try something with, and what came of it. */

import { Button, Group, Stack, TextInput, Title } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";

import { ProblemNote } from "~/parts/problem";
import { terminalWords } from "~/words/terminals";
import { useWords } from "~/words/words";

interface TryFormProps {
  title: string;
  hint: string;
  submit: string;
  /** Beside the title. */
  choice?: ReactNode;
  running: { isPending: boolean; error: unknown; mutate: (text: string) => void };
  children: ReactNode;
}

export function TryForm({ title, hint, submit, choice, running, children }: TryFormProps) {
  const w = useWords(terminalWords).try;
  const [text, setText] = useState("");
  const run = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim()) running.mutate(text.trim());
  };
  return (
    <section aria-label={title}>
      <form onSubmit={run}>
        <Stack gap="sm">
          <Group justify="space-between">
            <Title order={2} size="h6">
              {title}
            </Title>
            {choice}
          </Group>
          <Group gap="xs">
            <TextInput
              aria-label={`${title} ${w.text}`}
              placeholder={hint}
              value={text}
              maxLength={8000}
              onChange={(event) => setText(event.currentTarget.value)}
              style={{ flex: "1 1 220px" }}
            />
            <Button type="submit" loading={running.isPending} disabled={!text.trim()}>
              {submit}
            </Button>
          </Group>
          {running.error != null && <ProblemNote problem={running.error} />}
          {children}
        </Stack>
      </form>
    </section>
  );
}
