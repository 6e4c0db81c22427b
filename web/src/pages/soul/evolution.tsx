import { Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import { useAccess } from "~/access";
import { api, ask, type Schemas } from "~/api/client";
import { keys } from "~/api/queries";
import { Plot } from "~/parts/plot";
import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import { Empty, Read, Section } from "./section";

const OVERALL = "#8f8cff";
const COLOURS = ["#4ade80", "#fbbf24", "#60a5fa", "#f472b6"];

/** How much each version has changed, of all and by dimension. */
export function EvolutionPlot({ sessionId }: { sessionId: string }) {
  const w = useWords(soulWords);
  const { person } = useAccess();
  const params = { path: { session_id: sessionId }, query: { user_id: person } };
  const evolution = useQuery({
    queryKey: keys.session(sessionId, "evolution", person),
    queryFn: () => ask(api.GET("/v1/sessions/{session_id}/evolution", { params })),
  });
  return (
    <Section title={w.change}>
      <Read query={evolution}>
        {(data) => (data.versions.length === 0 ? <Empty>{w.notGrown}</Empty> : <Curve evolution={data} />)}
      </Read>
    </Section>
  );
}

function Curve({ evolution }: { evolution: Schemas["Evolution"] }) {
  const w = useWords(soulWords);
  const { versions, dimensions } = evolution;
  // Before the first version nothing had changed: the curve begins there, and shows also a single one.
  const xs = useMemo(() => [0, ...versions.map(({ n }) => n)], [versions]);
  const lines = useMemo(
    () => [
      { label: w.overall, color: OVERALL, width: 2.5, values: [0, ...versions.map(({ overall }) => overall)] },
      ...dimensions.map((name, place) => ({
        label: w.dimension[name] ?? name,
        color: COLOURS[place % COLOURS.length]!,
        values: [0, ...versions.map(({ changes }) => changes[name] ?? null)],
      })),
    ],
    [versions, dimensions, w],
  );
  const xLabel = (x: number) => (Number.isInteger(x) ? w.atVersion(x) : "");
  return (
    <>
      <Plot label={w.changeLabel} xs={xs} lines={lines} legend range={[0, 1.05]} height={200} xLabel={xLabel} />
      <Text size="xs" c="dimmed">
        {w.measure[evolution.measure]}
      </Text>
    </>
  );
}
