/** One plot for each quantity, with a line for each type: they share their axes, so that types can be compared. */

import { SimpleGrid, Stack, Text } from "@mantine/core";
import { useMemo } from "react";

import type { Schemas } from "~/api/client";
import { spanName } from "~/pages/simulate/script";
import { type Line, Plot } from "~/parts/plot";
import { simulateWords } from "~/words/simulate";
import { useWords } from "~/words/words";

type Run = Schemas["Run"];
type Sample = Schemas["SampleOut"];

/** Lines are told apart by their dashes too. */
const STYLES: { color: string; dash?: number[] }[] = [
  { color: "#8f8cff" },
  { color: "#fb923c", dash: [8, 4] },
  { color: "#34d399", dash: [2, 3] },
  { color: "#f472b6", dash: [12, 3, 2, 3] },
  { color: "#38bdf8", dash: [5, 2] },
  { color: "#facc15", dash: [1, 4] },
];

export function Curves({ runs }: { runs: Run[] }) {
  const w = useWords(simulateWords);
  const xs = useMemo(() => runs[0]?.samples.map((sample) => sample.at) ?? [], [runs]);
  const plots = useMemo(() => {
    const lines = (value: (sample: Sample) => number): Line[] =>
      runs.map((run, n) => ({ label: run.mbti_type, ...STYLES[n % STYLES.length]!, values: run.samples.map(value) }));
    const thresholds = runs.map((run, n) => ({
      label: w.threshold(run.mbti_type),
      color: STYLES[n % STYLES.length]!.color,
      dash: [3, 3],
      width: 1,
      values: run.samples.map((sample) => sample.threshold),
    }));
    const whole: [number, number] = [-1, 1];
    const share: [number, number] = [0, 1];
    return [
      { label: w.acting, lines: [...lines((sample) => sample.exec_probability), ...thresholds], range: share },
      { label: w.pleasure, lines: lines((sample) => sample.p), range: whole },
      { label: w.arousal, lines: lines((sample) => sample.a), range: whole },
      { label: w.dominance, lines: lines((sample) => sample.d), range: whole },
      { label: w.load, lines: lines((sample) => sample.shock_load), range: undefined },
      { label: w.lock, lines: lines((sample) => sample.lock_remaining_s), range: undefined },
    ];
  }, [runs, w]);
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      {plots.map((plot) => (
        <Stack key={plot.label} className="panel" gap={4}>
          <Text size="sm" fw={600}>
            {plot.label}
          </Text>
          <Plot {...plot} xs={xs} height={170} legend zoom xLabel={spanName} />
        </Stack>
      ))}
    </SimpleGrid>
  );
}
