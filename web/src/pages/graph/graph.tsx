/** The graphs that the server runs, drawn from its code, and lit as they run. */

import { Badge, Loader, SegmentedControl, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";

import { useAccess } from "~/access";
import { api, ask } from "~/api/client";
import { listen, useLive } from "~/live/live";
import { Canvas } from "~/pages/graph/canvas";
import { GraphComposer } from "~/pages/graph/graph-composer";
import { GraphText } from "~/pages/graph/graph-text";
import { drawing, type Graph } from "~/pages/graph/layout";
import { NodeState } from "~/pages/graph/node-state";
import { edgesOf, isRunning, type Run, runsOf, SIGNS } from "~/pages/graph/runs";
import { Waterfall } from "~/pages/graph/waterfall";
import { ProblemNote } from "~/parts/problem";
import { SoulPicker, useSoul } from "~/parts/soul-picker";
import { commonWords } from "~/words/common";
import { graphWords } from "~/words/graph";
import { useWords } from "~/words/words";

import styles from "./graph.module.css";

const TABS = ["turn", "afterglow", "proactive"] as const;
type Tab = (typeof TABS)[number];

export default function GraphPage() {
  const w = useWords(graphWords);
  const common = useWords(commonWords);
  const graphs = useQuery({
    queryKey: ["graphs"],
    queryFn: () => ask(api.GET("/v1/graphs")),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <>
      <Title order={1} className="visually-hidden">
        {w.title}
      </Title>
      {graphs.isPending && <Loader m="md" role="img" aria-label={common.loading} />}
      {graphs.error && <ProblemNote problem={graphs.error} onRetry={() => void graphs.refetch()} />}
      {graphs.data && <Graphs graphs={graphs.data} />}
    </>
  );
}

function Graphs({ graphs }: { graphs: Graph[] }) {
  const { soul } = useSoul();
  const [tab, setTab] = useState<Tab>("turn");
  const [runId, setRunId] = useState<string | null>(null);
  const [selected, setSelected] = useState<string | null>(null);
  const all = useRuns(soul?.soul_id);
  const runs = useMemo(() => all.filter(({ graph }) => graph === tab), [all, tab]);
  const run = runs.find(({ id }) => id === runId) ?? runs.at(-1);
  const drawn = useMemo(() => drawing(graphs, tab), [graphs, tab]);
  const gone = useMemo(() => edgesOf(run), [run]);
  const choose = (chosen: Tab) => {
    setTab(chosen);
    setRunId(null);
    setSelected(null);
  };
  return (
    <div className={styles.page}>
      <div className={`panel ${styles.left}`}>
        <Head tab={tab} onTab={choose} runs={all} />
        <Canvas
          key={tab}
          name={tab}
          drawing={drawn}
          run={run}
          gone={gone}
          selected={selected}
          onSelect={setSelected}
        />
        <Legend />
        <GraphText graphs={graphs} name={tab} drawing={drawn} />
      </div>
      <div className={styles.right}>
        <SoulPicker />
        {soul && <GraphComposer key={soul.soul_id} soul={soul} />}
        <Waterfall
          runs={runs}
          run={run}
          onRun={setRunId}
          following={runId === null || run?.id !== runId}
          selected={selected}
          onSelect={setSelected}
        />
        <NodeState selected={selected} run={run} />
      </div>
    </div>
  );
}

/** The runs of a soul that were heard since the page was opened. */
function useRuns(soulId: string | undefined): Run[] {
  const { person, isOwner } = useAccess();
  const userId = isOwner ? undefined : person; // an owner who names nobody sees everybody's
  useEffect(() => (soulId ? listen({ soul_id: soulId, user_id: userId, nodes: true }) : undefined), [soulId, userId]);
  const events = useLive((state) => state.nodes);
  return useMemo(() => runsOf(events.filter((event) => event.soul_id === soulId)), [events, soulId]);
}

function Head({ tab, onTab, runs }: { tab: Tab; onTab: (tab: Tab) => void; runs: Run[] }) {
  const w = useWords(graphWords);
  const active = new Set(runs.filter(isRunning).map(({ graph }) => graph));
  return (
    <div style={{ display: "flex", flexWrap: "wrap", gap: 12, alignItems: "center" }}>
      <SegmentedControl
        size="xs"
        aria-label={w.graphs}
        value={tab}
        onChange={(chosen) => onTab(chosen as Tab)}
        data={TABS.map((name) => ({ value: name, label: w[name] }))}
      />
      <Text size="sm" c="dimmed" style={{ flex: "1 1 180px" }}>
        {w.about[tab]}
      </Text>
      <div role="status">
        {[...active].map((name) => (
          <Badge key={name} color="yellow" variant="light" tt="none">
            {w[name as Tab]}: {w.runsNow}
          </Badge>
        ))}
      </div>
    </div>
  );
}

function Legend() {
  const w = useWords(graphWords);
  const states = ["running", "done", "failed"] as const;
  return (
    <div className={styles.legend}>
      {states.map((status) => (
        <span key={status} data-status={status}>
          <span aria-hidden>{SIGNS[status]} </span>
          {w.legend[status]}
        </span>
      ))}
      <span data-status="idle">{w.idle}</span>
      <span data-status="conditional">{w.legend.conditional}</span>
    </div>
  );
}
