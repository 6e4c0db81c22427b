import { Code, SimpleGrid, Stack, Table, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { api, ask, askRaw } from "~/api/client";
import { Backup } from "~/pages/operations/backup";
import { figuresOf, total } from "~/pages/operations/metrics";
import { ProblemNote } from "~/parts/problem";
import { operationsWords } from "~/words/operations";
import { useWords } from "~/words/words";

const EVERY_MS = 5_000;

export function Overview() {
  const w = useWords(operationsWords);
  const ready = useQuery({ queryKey: ["readyz"], queryFn: () => ask(api.GET("/readyz")), refetchInterval: EVERY_MS });
  const server: [string, string][] = ready.data
    ? [
        [w.voice, ready.data.voice === "offline" ? w.offline : ready.data.voice],
        [w.database, ready.data.database],
        [w.broker, Object.values(ready.data.broker ?? {}).join(", ") || w.noBroker],
        [w.memory, ready.data.memory ?? w.memoryWell],
      ]
    : [];
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Stack className="panel" gap="sm">
        <Title order={2} size="h5">
          {w.server}
        </Title>
        {ready.error && <ProblemNote problem={ready.error} />}
        <Rows name={w.server} rows={server} />
        <Backup />
      </Stack>
      <Counters />
    </SimpleGrid>
  );
}

function Counters() {
  const w = useWords(operationsWords);
  const metrics = useQuery({
    queryKey: ["metrics"],
    queryFn: async () => (await askRaw("metrics")).text(),
    staleTime: 0,
    refetchInterval: EVERY_MS,
  });
  const figures = figuresOf(metrics.data ?? "");
  const count = (name: string, fit?: (labels: Record<string, string>) => boolean) =>
    total(figures, `soulgraph_${name}`, fit).toLocaleString();
  const mean = total(figures, "soulgraph_turn_seconds_sum") / total(figures, "soulgraph_turn_seconds_count");
  const rows: [string, string][] = [
    [w.turnsOk, count("turns_total", ({ outcome }) => outcome === "ok")],
    [w.turnsFailed, count("turns_total", ({ outcome }) => outcome !== "ok")],
    [w.turnMean, Number.isFinite(mean) ? w.seconds(mean.toFixed(2)) : "–"],
    [w.turnsRunning, count("turns_running")],
    [w.jobsDone, count("jobs_total", ({ outcome }) => outcome === "done")],
    [w.jobsFailed, count("jobs_total", ({ outcome }) => outcome !== "done")],
    [w.jobsPending, count("jobs_in_outbox", ({ status }) => status === "pending")],
    [w.jobsDead, count("jobs_in_outbox", ({ status }) => status === "dead")],
    [w.soulsTicked, count("souls_ticked_total")],
    [w.modelCalls, count("model_calls_total")],
    [
      w.modelTokens,
      `${count("model_tokens_total", ({ direction }) => direction === "input")} + ${count("model_tokens_total", ({ direction }) => direction === "output")}`,
    ],
    [w.mqttDropped, count("mqtt_dropped_total")],
  ];
  return (
    <Stack className="panel" gap="sm">
      <Title order={2} size="h5">
        {w.counters}
      </Title>
      <Text size="xs" c="dimmed">
        {w.since}. {w.countersNow}
      </Text>
      {metrics.error && <ProblemNote problem={metrics.error} />}
      <Rows name={w.counters} rows={rows} />
      <details>
        <summary>{w.raw}</summary>
        <Code block mah={320} style={{ overflow: "auto" }} tabIndex={0}>
          {metrics.data}
        </Code>
      </details>
    </Stack>
  );
}

function Rows({ name, rows }: { name: string; rows: [string, string][] }) {
  return (
    <Table aria-label={name} fz="sm" variant="vertical">
      <Table.Tbody>
        {rows.map(([label, value]) => (
          <Table.Tr key={label}>
            <Table.Th scope="row">{label}</Table.Th>
            <Table.Td>{value}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
