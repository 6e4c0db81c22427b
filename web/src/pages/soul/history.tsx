/** How a soul felt and how its traits drifted. What is zoomed to is read anew, with all its points. */

import { Button, Group, Loader, Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo, useRef, useState } from "react";

import { api, ask } from "~/api/client";
import { keys } from "~/api/queries";
import { useAxisLines } from "~/parts/axes";
import { type Line, Plot } from "~/parts/plot";
import { commonWords } from "~/words/common";
import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import { framed, type Moment } from "./framed";
import { TRAITS, useTraitNames } from "./radar-figure";
import { Empty, Read, Section } from "./section";
import { useWhen } from "./when";

type Range = { from: number; to: number } | null;

const POINTS = 600;
const COLOURS = ["#f472b6", "#fbbf24", "#4ade80", "#22d3ee", "#60a5fa"];
/** Drift below it would look like much where there is next to none. */
const SMALLEST_DRIFT = 0.02;
const HOUR_S = 3600;

export function History({ soulId }: { soulId: string }) {
  const w = useWords(soulWords);
  const [range, setRange] = useState<Range>(null);
  const history = useHistory(soulId, range);
  const points = usePoints(soulId, history, range);
  const zoom = <Zoom range={range} onRange={setRange} reading={history.isFetching} />;
  const shown = (figure: React.ReactNode) => (
    <Read query={history}>{() => (points.length < 2 ? <Empty>{w.noPoints}</Empty> : figure)}</Read>
  );
  return (
    <>
      <Section title={w.history} text={w.zoomHint} actions={zoom}>
        {shown(<Moods points={points} onRange={setRange} />)}
      </Section>
      <Section title={w.driftTitle} text={w.zoomHint}>
        {shown(<Drifts points={points} onRange={setRange} />)}
      </Section>
    </>
  );
}

function useHistory(soulId: string, range: Range) {
  const query = {
    points: POINTS,
    ...(range && { since: String(range.from), until: String(range.to) }),
  };
  return useQuery({
    queryKey: keys.soul(soulId, "history", range),
    queryFn: () =>
      ask(api.GET("/v1/souls/{soul_id}/emotion/history", { params: { path: { soul_id: soulId }, query } })),
    placeholderData: keepPreviousData,
  });
}

/** What is drawn: all of it, or the part that was zoomed to with the lines up to its edges. */
function usePoints(soulId: string, history: ReturnType<typeof useHistory>, range: Range): Moment[] {
  const all = useHistory(soulId, null).data?.points;
  const part = history.data?.points;
  const isPart = range !== null && !history.isPlaceholderData;
  return useMemo(
    () => (isPart ? framed(part ?? [], all ?? [], range.from, range.to) : (part ?? [])),
    [isPart, part, all, range],
  );
}

interface ZoomProps {
  range: Range;
  onRange: (range: Range) => void;
  reading: boolean;
}

function Zoom({ range, onRange, reading }: ZoomProps) {
  const w = useWords(soulWords);
  const common = useWords(commonWords);
  const when = useWhen();
  const last = (seconds: number) => () => {
    const now = Date.now() / 1000;
    onRange({ from: now - seconds, to: now });
  };
  return (
    <>
      {reading && <Loader size="xs" role="img" aria-label={common.loading} />}
      {range && (
        <Text size="xs" c="dimmed" data-testid="zoomed">
          {w.zoomed(when.time(range.from * 1000), when.time(range.to * 1000))}
        </Text>
      )}
      <Group gap={4}>
        <Button size="compact-xs" variant="default" onClick={last(HOUR_S)}>
          {w.lastHour}
        </Button>
        <Button size="compact-xs" variant="default" onClick={last(24 * HOUR_S)}>
          {w.lastDay}
        </Button>
        <Button size="compact-xs" variant="default" onClick={last(7 * 24 * HOUR_S)}>
          {w.lastWeek}
        </Button>
        <Button size="compact-xs" variant={range ? "filled" : "default"} onClick={() => onRange(null)}>
          {w.zoomAll}
        </Button>
      </Group>
    </>
  );
}

interface FigureProps {
  points: Moment[];
  onRange: (range: Range) => void;
}

function Moods({ points, onRange }: FigureProps) {
  const w = useWords(soulWords);
  const lines = useAxisLines(points);
  return <Zoomable label={w.historyLabel} points={points} lines={lines} range={[-1, 1]} onRange={onRange} />;
}

function Drifts({ points, onRange }: FigureProps) {
  const w = useWords(soulWords);
  const names = useTraitNames();
  const known = points.some((point) => point.drift);
  const lines = useMemo(
    () =>
      TRAITS.map((trait, at) => ({
        label: names[at]!,
        color: COLOURS[at]!,
        values: points.map((point) => point.drift?.[trait] ?? null),
      })),
    [points, names.join()],
  );
  const most = Math.max(SMALLEST_DRIFT, ...lines.flatMap(({ values }) => values.map((value) => Math.abs(value ?? 0))));
  if (!known) return <Empty>{w.noDrift}</Empty>;
  return <Zoomable label={w.driftLabel} points={points} lines={lines} range={[-most, most]} onRange={onRange} />;
}

interface ZoomableProps extends FigureProps {
  label: string;
  lines: Line[];
  range?: [number, number];
}

function Zoomable({ label, points, lines, range, onRange }: ZoomableProps) {
  const xs = useMemo(() => points.map((point) => Date.parse(point.at) / 1000), [points]);
  const drawn = useRef(xs);
  drawn.current = xs;
  // The plot keeps the function that it was made with, and also tells of the range that it has chosen by itself, which
  // is all of its data.
  const zoomed = (from: number, to: number) => {
    const [first, last] = [drawn.current[0]!, drawn.current.at(-1)!];
    if (from > first + 0.001 || to < last - 0.001) onRange({ from, to });
  };
  return (
    <div onDoubleClick={() => onRange(null)}>
      <Plot label={label} xs={xs} lines={lines} time zoom legend height={220} range={range} onZoom={zoomed} />
    </div>
  );
}
