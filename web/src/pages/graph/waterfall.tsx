/** When each node of a run began, and how long it took. */

import { Select, Stack, Text, Title, UnstyledButton } from "@mantine/core";
import { useEffect, useState } from "react";

import { type Bar, barsOf, isRunning, lengthOf, type Run, SIGNS, statusOf, timeText } from "~/pages/graph/runs";
import { graphWords } from "~/words/graph";
import { useWords } from "~/words/words";

import styles from "./graph.module.css";

interface WaterfallProps {
  /** The oldest first. */
  runs: Run[];
  run: Run | undefined;
  onRun: (id: string | null) => void;
  following: boolean;
  selected: string | null;
  onSelect: (key: string) => void;
}

const NEWEST = "newest";

export function Waterfall({ runs, run, onRun, following, selected, onSelect }: WaterfallProps) {
  const w = useWords(graphWords);
  const now = useClock(run !== undefined && isRunning(run));
  const choices = [...runs].reverse().map((one) => ({
    value: one.id,
    label: w.runLabel(timeOf(one), one.words, timeText(lengthOf(one, now))),
  }));
  return (
    <section className="panel" aria-label={w.timings}>
      <Stack gap="xs">
        <Title order={2} size="h5">
          {w.timings}
        </Title>
        {run ? (
          <>
            <Select
              size="xs"
              aria-label={w.which}
              data={[{ value: NEWEST, label: w.newest }, ...choices]}
              value={following ? NEWEST : run.id}
              onChange={(id) => onRun(id === NEWEST ? null : id)}
              allowDeselect={false}
            />
            <Text size="sm" className={styles.which} data-testid="which-run">
              {w.looksAt(timeOf(run), run.words)}
            </Text>
            <Text size="xs" c="dimmed">
              {w.waterfall(timeText(lengthOf(run, now)))}
            </Text>
            <ol className={styles.bars} data-testid="waterfall">
              {barsOf(run, now).map((bar, n) => (
                <li key={`${bar.span.key}-${n}`}>
                  <BarRow bar={bar} selected={selected === bar.span.key} onSelect={onSelect} />
                </li>
              ))}
            </ol>
          </>
        ) : (
          <Text size="sm" c="dimmed">
            {w.noRuns}
          </Text>
        )}
      </Stack>
    </section>
  );
}

function BarRow({ bar, selected, onSelect }: { bar: Bar; selected: boolean; onSelect: (key: string) => void }) {
  const w = useWords(graphWords);
  const { span, left, width, ms } = bar;
  const status = statusOf(span);
  return (
    <UnstyledButton
      className={styles.bar}
      aria-pressed={selected}
      data-inner={span.graph === "tool_loop"}
      onClick={() => onSelect(span.key)}
    >
      <span className={styles.name}>{span.node}</span>
      <span className={styles.track}>
        <span className={styles.fill} data-status={status} style={{ left: `${left}%`, width: `${width}%` }} />
      </span>
      <span className={styles.ms}>
        {status === "failed" && (
          <span className={styles.wrong}>
            <span aria-hidden>{SIGNS.failed} </span>
            {w.failed}{" "}
          </span>
        )}
        {timeText(ms)}
        <span className="visually-hidden"> {w.after(timeText(span.start))}</span>
      </span>
    </UnstyledButton>
  );
}

const timeOf = (run: Run) => new Date(run.startedAt).toLocaleTimeString("en-GB");

/** A clock for bars that grow; it stands still while nothing runs. */
function useClock(runs: boolean): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!runs) return;
    const clock = setInterval(() => setNow(Date.now()), 100);
    return () => clearInterval(clock);
  }, [runs]);
  return now;
}
