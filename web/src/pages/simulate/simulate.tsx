import { Alert, Button, Grid, Group, Loader, MultiSelect, Stack, Text, Title } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { create } from "zustand";
import { persist } from "zustand/middleware";

import { api, ask, Problem, type Schemas, UNREACHABLE } from "~/api/client";
import { Curves } from "~/pages/simulate/curves";
import { Results } from "~/pages/simulate/results";
import { type Step, isSound, preset, requestOf } from "~/pages/simulate/script";
import { ScriptEditor } from "~/pages/simulate/script-editor";
import { newId } from "~/ids";
import { MBTI } from "~/parts/mbti";
import { ProblemNote } from "~/parts/problem";
import { usePreferences } from "~/preferences";
import { simulateWords } from "~/words/simulate";
import { useWords } from "~/words/words";

interface Experiment {
  types: string[];
  steps: Step[];
  until: string;
}

/** The experiment is still there after a look at another page. */
export const useExperiment = create<Experiment>()(
  persist(
    (): Experiment => ({
      types: ["INFP", "ESTJ"],
      steps: preset("insults", usePreferences.getState().lang),
      until: "",
    }),
    {
      name: "soulgraph.experiment",
      version: 1,
      migrate: (kept) => withNewIds(kept as Experiment),
    },
  ),
);

/** Steps were once counted anew after each reload, so that two of them could have the same id. */
function withNewIds(kept: Experiment): Experiment {
  return { ...kept, steps: kept.steps.map((step) => ({ ...step, id: newId("step-") })) };
}

const MOST_TYPES = 6;
const PAUSE_MS = 400;

export default function Simulate() {
  const w = useWords(simulateWords);
  const experiment = useExperiment();
  const { types, steps, until } = experiment;
  const [settled] = useDebouncedValue(experiment, PAUSE_MS);
  const body = requestOf(settled.types, settled.steps, settled.until);
  const played = useQuery({
    queryKey: ["simulate", JSON.stringify(body)],
    queryFn: ({ signal }) => ask(api.POST("/v1/simulate", { body, signal })),
    enabled: settled.types.length > 0 && isSound(settled.steps, settled.until),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return (
    <Stack p="md" gap="md">
      <header>
        <Group gap="sm">
          <Title order={1} size="h3">
            {w.title}
          </Title>
          {played.isFetching && <Loader size="xs" role="img" aria-label={w.running} />}
        </Group>
        <Text c="dimmed" size="sm">
          {w.intro}
        </Text>
      </header>
      <Grid gap="md">
        <Grid.Col span={{ base: 12, lg: 5 }}>
          <Stack className="panel">
            <MultiSelect
              label={w.types}
              description={w.typesHint}
              data={MBTI}
              value={types}
              onChange={(chosen) => useExperiment.setState({ types: chosen })}
              maxValues={MOST_TYPES}
              error={types.length === 0 && w.noTypes}
              searchable
            />
            <ScriptEditor steps={steps} until={until} onChange={(change) => useExperiment.setState(change)} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 7 }}>
          <Stack>
            {steps.length === 0 && <Alert>{w.noSteps}</Alert>}
            {played.error && <Failure problem={played.error} onRetry={() => void played.refetch()} />}
            <Ready played={played.isFetching ? undefined : played.data} />
            {played.data && steps.length > 0 && (
              <>
                <Results simulation={played.data} />
                <Curves runs={played.data.runs} />
              </>
            )}
          </Stack>
        </Grid.Col>
      </Grid>
    </Stack>
  );
}

/** Told once when a run is ready, and not while one still types. */
function Ready({ played }: { played: Schemas["SimulationOut"] | undefined }) {
  const w = useWords(simulateWords);
  return (
    <div role="status" className="visually-hidden">
      {played && w.ready(played.runs.map((run) => run.mbti_type).join(", "), played.cues.length)}
    </div>
  );
}

function Failure({ problem, onRetry }: { problem: Error; onRetry: () => void }) {
  const w = useWords(simulateWords);
  // What breaks off in the middle of an answer is no refusal of the server.
  if (problem instanceof Problem && problem.code !== UNREACHABLE) return <ProblemNote problem={problem} onRetry={onRetry} />;
  return (
    <Alert color="red" role="alert" title={w.brokenTitle}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{w.broken}</Text>
        <Button size="xs" variant="light" color="red" onClick={onRetry}>
          {w.again}
        </Button>
      </Stack>
    </Alert>
  );
}
