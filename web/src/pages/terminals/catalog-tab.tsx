/** The catalog of a terminal as a form or as JSON. Nothing is sent before it is saved. */

import { Alert, Button, Group, SegmentedControl, Stack, Text, Textarea, Title } from "@mantine/core";
import { useState } from "react";

import { useAccess } from "~/access";
import { IntentList } from "~/pages/terminals/intent-list";
import type { CatalogEdit } from "~/pages/terminals/use-catalog";
import { ConfirmButton } from "~/parts/confirm";
import { terminalWords } from "~/words/terminals";
import { useWords } from "~/words/words";

import styles from "./terminals.module.css";

export function CatalogTab({ catalog }: { catalog: CatalogEdit }) {
  const w = useWords(terminalWords).catalog;
  const { isTerminal } = useAccess();
  const [view, setView] = useState("form");
  const form = view === "form" && isTerminal;
  return (
    <Stack gap="sm">
      <Group justify="space-between" className={styles.head}>
        <Title order={2} size="h6">
          {w.title}
        </Title>
        {isTerminal && <Saving catalog={catalog} />}
        {isTerminal && (
          <SegmentedControl
            size="xs"
            aria-label={w.view}
            value={view}
            onChange={setView}
            disabled={catalog.problem !== null}
            data={[
              { value: "form", label: w.form },
              { value: "json", label: w.json },
            ]}
          />
        )}
      </Group>
      <Newer catalog={catalog} />
      {form ? <IntentList catalog={catalog} /> : <JsonView catalog={catalog} readOnly={!isTerminal} />}
      {isTerminal && (
        <Text size="xs" c="dimmed">
          {w.hint}
        </Text>
      )}
    </Stack>
  );
}

function Saving({ catalog }: { catalog: CatalogEdit }) {
  const w = useWords(terminalWords).catalog;
  const { dirty, mistakes, problem, saving, save, discard, base } = catalog;
  if (!dirty) return null;
  return (
    <Group gap="xs">
      {mistakes.length > 0 && (
        <Text size="xs" c="var(--bad)" role="status">
          {w.mistakes(mistakes.length)}
        </Text>
      )}
      <ConfirmButton question={w.discardQuestion} onConfirm={discard}>
        {w.discard}
      </ConfirmButton>
      <Button size="xs" onClick={save} loading={saving} disabled={problem !== null || mistakes.length > 0}>
        {w.save(base + 1)}
      </Button>
    </Group>
  );
}

function Newer({ catalog }: { catalog: CatalogEdit }) {
  const w = useWords(terminalWords).catalog;
  if (catalog.newer === null) return null;
  return (
    <Alert color="orange" role="alert">
      <Group justify="space-between">
        <Text size="sm">{w.changed(catalog.newer)}</Text>
        <Group gap="xs">
          <Button size="xs" variant="default" onClick={catalog.discard}>
            {w.takeTheirs}
          </Button>
          <Button size="xs" variant="default" onClick={catalog.keepMine}>
            {w.keepMine}
          </Button>
        </Group>
      </Group>
    </Alert>
  );
}

function JsonView({ catalog, readOnly }: { catalog: CatalogEdit; readOnly: boolean }) {
  const w = useWords(terminalWords).catalog;
  const { problem } = catalog;
  const where = problem && [problem.path, w.expected[problem.expected], problem.detail].filter(Boolean).join(" · ");
  return (
    <Textarea
      label={w.jsonLabel}
      value={catalog.text}
      onChange={(event) => catalog.write(event.currentTarget.value)}
      error={where}
      readOnly={readOnly}
      autosize
      minRows={12}
      maxRows={32}
      spellCheck={false}
      styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)", fontSize: 12 } }}
    />
  );
}
