/** What a sentence would ask of a terminal, by the catalog that it has reported or by the one that is edited here. */

import { Badge, Group, Progress, SegmentedControl, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

import { api, ask, type Schemas } from "~/api/client";
import { catalogOf, draftsOf } from "~/pages/terminals/catalog";
import { TryForm } from "~/pages/terminals/try-form";
import type { CatalogEdit } from "~/pages/terminals/use-catalog";
import type { Terminal } from "~/pages/terminals/use-terminals";
import { terminalWords } from "~/words/terminals";
import { useWords } from "~/words/words";

export function IntentTester({ terminal, catalog }: { terminal: Terminal; catalog: CatalogEdit }) {
  const w = useWords(terminalWords).try;
  const [which, setWhich] = useState("reported");
  const edited = catalog.dirty && which === "edited";
  const filter = useMutation({
    mutationFn: (text: string) => {
      const intents = catalogOf(edited ? catalog.drafts : draftsOf(terminal.intent_catalog));
      return ask(api.POST("/v1/intents/filter", { body: { text, intent_catalog: intents, options: {} } }));
    },
  });
  const choice = catalog.dirty && (
    <SegmentedControl
      size="xs"
      aria-label={w.which}
      value={which}
      onChange={setWhich}
      data={[
        { value: "reported", label: w.reported },
        { value: "edited", label: w.edited },
      ]}
    />
  );
  return (
    <TryForm title={w.intents} hint={w.textHint} submit={w.run} choice={choice} running={filter}>
      {filter.data && <Result result={filter.data} />}
    </TryForm>
  );
}

function Result({ result }: { result: Schemas["IntentResult"] }) {
  const w = useWords(terminalWords).try;
  const { action, reason } = result.decision;
  return (
    <Stack gap="xs" role="status" data-testid="intent-result" data-action={action}>
      <Group gap="xs">
        <Badge color={action === "execute_intents" ? "green" : "gray"} variant="light" tt="none">
          {w.action[action]}
        </Badge>
        <Text size="xs" c="dimmed">
          {reason}
        </Text>
      </Group>
      {result.intents.length === 0 && <Text size="sm">{w.nothing}</Text>}
      {result.intents.map((intent, n) => (
        <Found key={`${intent.intent_id}-${n}`} intent={intent} />
      ))}
    </Stack>
  );
}

function Found({ intent }: { intent: Schemas["MatchedIntent"] }) {
  const w = useWords(terminalWords).try;
  const percent = Math.round(100 * intent.confidence);
  const parameters = Object.entries(intent.parameters);
  return (
    <Stack gap={4} className="panel" p="sm">
      <Group gap="xs">
        <Text fw={600} size="sm">
          {intent.intent_name}
        </Text>
        <Text size="xs" c="dimmed" ff="monospace">
          {intent.intent_id}
        </Text>
        <Badge size="sm" variant="light" tt="none" color={intent.status === "ready" ? "green" : "orange"}>
          {w.status[intent.status]}
        </Badge>
      </Group>
      <Group gap="xs" wrap="nowrap">
        <Text size="xs" w={80}>
          {w.confidence}
        </Text>
        <Progress value={percent} size="sm" style={{ flex: 1 }} aria-label={`${w.confidence} ${percent}%`} />
        <Text size="xs" ff="monospace">
          {intent.confidence.toFixed(2)}
        </Text>
      </Group>
      {parameters.length > 0 && (
        <Text size="xs">
          {w.parameters}: {parameters.map(([name, value]) => `${name} = ${JSON.stringify(value)}`).join(" · ")}
        </Text>
      )}
      {intent.question && (
        <Text size="xs">
          {w.question}: {intent.question}
        </Text>
      )}
      <Text size="xs" c="dimmed">
        {w.why}: {intent.why}
      </Text>
    </Stack>
  );
}
