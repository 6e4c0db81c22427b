/** What a sentence feels like, and what it would be to a soul. It moves none. */

import { Badge, Group, Stack, Text, Title } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";

import { api, ask, type Schemas } from "~/api/client";
import { TryForm } from "~/pages/terminals/try-form";
import { Axes, Bar } from "~/parts/axes";
import { Face } from "~/parts/face";
import { emotionWords } from "~/words/emotions";
import { terminalWords } from "~/words/terminals";
import { useWords } from "~/words/words";

export function EmotionTester() {
  const w = useWords(terminalWords).try;
  const analyze = useMutation({ mutationFn: (text: string) => ask(api.POST("/v1/emotion/analyze", { body: { text } })) });
  return (
    <TryForm title={w.emotion} hint={w.feelingHint} submit={w.feel} running={analyze}>
      {analyze.data && <Feeling feeling={analyze.data} />}
    </TryForm>
  );
}

function Feeling({ feeling }: { feeling: Schemas["FeelingOut"] }) {
  const w = useWords(terminalWords).try;
  const names: Record<string, string> = useWords(emotionWords);
  const label = names[feeling.emotion] ?? feeling.emotion;
  const { p, a, d, appraisal } = feeling;
  return (
    <Stack gap="sm" role="status" data-testid="emotion-result" data-emotion={feeling.emotion}>
      <Group gap="md" wrap="nowrap">
        <Face p={p} a={a} d={d} size={84} label={w.face(label)} />
        <Stack gap={6} style={{ flex: 1, minWidth: 0 }}>
          <Group gap="xs">
            <Text fw={600}>{label}</Text>
            <Text size="xs" c="dimmed">
              {feeling.confidence !== null && `${w.confidence} ${feeling.confidence.toFixed(2)} · `}
              {w.took(feeling.latency_ms.toFixed(1))}
            </Text>
          </Group>
          <Axes of={feeling} />
          <Bar name={w.intensity} value={feeling.intensity} percent={100 * feeling.intensity} />
        </Stack>
      </Group>
      <Stack gap={6}>
        <Title order={3} size="h6">
          {w.appraisal}
        </Title>
        <Bar name={w.toward} value={appraisal.toward} percent={100 * appraisal.toward} />
        <Bar name={w.hostility} value={appraisal.hostility} percent={100 * appraisal.hostility} color="red" />
        <Bar name={w.repair} value={appraisal.repair} percent={100 * appraisal.repair} color="green" />
        {appraisal.reasons.length > 0 && (
          <Group gap={6}>
            <Text size="xs">{w.reasons}:</Text>
            {appraisal.reasons.map((reason) => (
              <Badge key={reason} size="sm" variant="light" color="gray" tt="none" fw={400}>
                {reason}
              </Badge>
            ))}
          </Group>
        )}
      </Stack>
    </Stack>
  );
}
