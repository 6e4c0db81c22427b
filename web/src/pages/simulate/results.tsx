import { Badge, Button, Group, Stack, Table, Text, TextInput, Title } from "@mantine/core";
import { useState } from "react";

import { useAccess } from "~/access";
import type { Schemas } from "~/api/client";
import { heardText } from "~/pages/simulate/heard";
import { spanName } from "~/pages/simulate/script";
import { type Span, summaryOf } from "~/pages/simulate/summary";
import { FormDialog } from "~/parts/dialog";
import { useMakeSoul } from "~/parts/make-soul";
import { showDone, showProblem } from "~/parts/problem";
import { usePreferences } from "~/preferences";
import { commonWords } from "~/words/common";
import { emotionWords } from "~/words/emotions";
import { simulateWords } from "~/words/simulate";
import { useWords } from "~/words/words";

const MOST_SPANS = 2;

export function Results({ simulation }: { simulation: Schemas["SimulationOut"] }) {
  const w = useWords(simulateWords);
  const lang = usePreferences((state) => state.lang);
  const { isServerOwner } = useAccess();
  const [wanted, setWanted] = useState<string | null>(null);
  const spansText = (spans: Span[]) => {
    const shown = spans.slice(0, MOST_SPANS).map(({ from, to }) => `${spanName(from)}–${spanName(to)}`);
    return shown.length ? w.spans(shown.join(", "), spans.length - shown.length) : w.never;
  };
  const rows = simulation.runs.map((run) => ({ run, summary: summaryOf(run.samples, simulation.cues) }));
  const when = (first: NonNullable<ReturnType<typeof summaryOf>["firstBlocked"]>) =>
    first.step === null ? w.justAt(spanName(first.at)) : w.step_at(first.step, spanName(first.at));
  return (
    <Stack className="panel" gap="sm">
      <Title order={2} size="h5">
        {w.result}
      </Title>
      <Table.ScrollContainer minWidth={560}>
        <Table fz="sm" aria-label={w.result}>
          <Table.Thead>
            <Table.Tr>
              {[w.type, w.firstBlocked, w.blocked, w.locked, w.lowest, w.end].map((name) => (
                <Table.Th key={name}>{name}</Table.Th>
              ))}
              {isServerOwner && (
                <Table.Th>
                  <span className="visually-hidden">{w.make}</span>
                </Table.Th>
              )}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(({ run, summary }) => (
              <Table.Tr key={run.mbti_type}>
                <Table.Th scope="row">{run.mbti_type}</Table.Th>
                <Table.Td>{summary.firstBlocked ? when(summary.firstBlocked) : w.never}</Table.Td>
                <Table.Td>{spansText(summary.blocked)}</Table.Td>
                <Table.Td>{spansText(summary.locked)}</Table.Td>
                <Table.Td>{summary.lowestPleasure.toFixed(2)}</Table.Td>
                <Table.Td>{summary.last?.mood[lang]}</Table.Td>
                {isServerOwner && (
                  <Table.Td>
                    <Button size="compact-xs" variant="light" onClick={() => setWanted(run.mbti_type)}>
                      {w.make}
                    </Button>
                  </Table.Td>
                )}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Heard cues={simulation.cues} />
      {wanted && <MakeSoul mbti={wanted} onClose={() => setWanted(null)} />}
    </Stack>
  );
}

const MOST_CUES = 12;

function Heard({ cues }: { cues: Schemas["CueOut"][] }) {
  const w = useWords(simulateWords);
  const emotions = useWords(emotionWords);
  return (
    <Group gap="xs" aria-label={w.heard} role="list">
      {cues.slice(0, MOST_CUES).map((cue, n) => (
        <Group key={n} gap={4} role="listitem" wrap="nowrap">
          <Text size="xs" c="dimmed">
            {spanName(cue.at)}
          </Text>
          {cue.words && (
            <Text size="xs" truncate maw={180}>
              “{cue.words}”
            </Text>
          )}
          <Badge size="sm" variant="light" tt="none">
            {heardText(cue.heard_as, emotions, w)}
          </Badge>
        </Group>
      ))}
    </Group>
  );
}

function MakeSoul({ mbti, onClose }: { mbti: string; onClose: () => void }) {
  const w = useWords(simulateWords);
  const common = useWords(commonWords);
  const [name, setName] = useState("");
  const make = useMakeSoul((soul) => showDone(w.made(soul.name)));
  const submit = () => make.mutate({ name, mbti_type: mbti, character_id: null, user_name: "" }, { onError: showProblem });
  return (
    <FormDialog
      title={w.makeTitle(mbti)}
      submit={w.make}
      pending={make.isPending}
      ready={name.trim() !== ""}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextInput
        label={common.name}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        maxLength={80}
        data-autofocus
      />
    </FormDialog>
  );
}
