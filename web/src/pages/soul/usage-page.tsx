/** What a soul's model calls cost, by day and by what for, and what it may still spend today. */

import { Alert, Group, Progress, SegmentedControl, Stack, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { api, ask, type Schemas } from "~/api/client";
import { keys } from "~/api/queries";
import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import { Empty, Read, Section } from "./section";
import type { OfSoul } from "./soul";
import css from "./soul.module.css";
import { byDay, type Day, type Kind, KINDS } from "./usage";
import { useWhen } from "./when";

const COLOURS: Record<Kind, string> = {
  turn: "#8f8cff",
  growth: "#4ade80",
  archive: "#60a5fa",
  reflect: "#f472b6",
  life: "#fbbf24",
};
const SPANS = ["7", "30", "90", "366"];

export function UsagePage({ soul }: OfSoul) {
  const w = useWords(soulWords);
  const [days, setDays] = useState("30");
  const usage = useQuery({
    queryKey: keys.soul(soul.soul_id, "usage", days),
    queryFn: () => {
      const params = { path: { soul_id: soul.soul_id }, query: { days: Number(days) } };
      return ask(api.GET("/v1/souls/{soul_id}/usage", { params }));
    },
  });
  const spans = SPANS.map((value) => ({ value, label: w.days(value) }));
  const span = <SegmentedControl size="xs" aria-label={w.usageDays} data={spans} value={days} onChange={setDays} />;
  return (
    <Read query={usage}>
      {(data) => (
        <Stack gap={14}>
          <Budget budget={data.budget} />
          <Section title={w.usageTitle} actions={span}>
            {data.days.length === 0 ? <Empty>{w.noUsage}</Empty> : <Spent usage={data} />}
          </Section>
        </Stack>
      )}
    </Read>
  );
}

function Budget({ budget }: { budget: Schemas["BudgetOut"] }) {
  const w = useWords(soulWords);
  const when = useWhen();
  const { daily_tokens: all, spent_today: spent, resets_at: resets } = budget;
  const text = all ? w.budgetOf(when.count(spent), when.count(all)) : w.budgetNone(when.count(spent));
  return (
    <Section title={w.budget}>
      <Text size="sm">
        {text}
        {all > 0 && ` · ${w.budgetResets(when.time(resets))}`}
      </Text>
      {all > 0 && <Progress value={Math.min(100, (100 * spent) / all)} aria-label={text} size="lg" />}
      {budget.background === "stopped" && <Alert color="yellow">{w.budgetStopped(when.time(resets))}</Alert>}
    </Section>
  );
}

function Spent({ usage }: { usage: Schemas["UsageOut"] }) {
  const w = useWords(soulWords);
  const days = byDay(usage.days);
  const most = Math.max(1, ...days.map((day) => day.tokens));
  return (
    <>
      <Group gap="md">
        {KINDS.map((kind) => (
          <Group key={kind} gap={6}>
            <span aria-hidden style={{ width: 10, height: 10, borderRadius: 3, background: COLOURS[kind] }} />
            <Text size="xs">{w.usageKind[kind]}</Text>
          </Group>
        ))}
      </Group>
      <Stack gap={6} role="list" aria-label={w.byDay}>
        {days.map((day) => (
          <Bar key={day.day} day={day} most={most} />
        ))}
      </Stack>
      <Figures usage={usage} />
    </>
  );
}

function Bar({ day, most }: { day: Day; most: number }) {
  const w = useWords(soulWords);
  const when = useWhen();
  return (
    <Group gap="sm" wrap="nowrap" role="listitem" aria-label={w.dayTotal(day.day, when.count(day.tokens))}>
      <Text size="xs" c="dimmed" w={84} style={{ flex: "none" }}>
        {day.day}
      </Text>
      <div className={css.bar} style={{ flex: 1 }}>
        {day.parts.map(({ kind, tokens }) => (
          <div key={kind} style={{ width: `${(100 * tokens) / most}%`, background: COLOURS[kind] }} />
        ))}
      </div>
      <Text size="xs" ff="monospace" ta="right" w={84} style={{ flex: "none" }}>
        {when.count(day.tokens)}
      </Text>
    </Group>
  );
}

function Figures({ usage }: { usage: Schemas["UsageOut"] }) {
  const w = useWords(soulWords);
  const when = useWhen();
  const totals = KINDS.filter((kind) => usage.totals[kind]).map((kind) => ({ day: w.total, kind, ...usage.totals[kind] }));
  return (
    <Table.ScrollContainer
      minWidth={420}
      maxHeight={360}
      scrollAreaProps={{ viewportProps: { tabIndex: 0, role: "group", "aria-label": w.usageTitle } }}
    >
      <Table fz="xs" stickyHeader aria-label={w.usageTitle}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{w.usageDay}</Table.Th>
            <Table.Th>{w.usageWhat}</Table.Th>
            <Table.Th ta="right">{w.calls}</Table.Th>
            <Table.Th ta="right">{w.input}</Table.Th>
            <Table.Th ta="right">{w.output}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {[...totals, ...usage.days].map((row) => (
            <Table.Tr key={`${row.day}-${row.kind}`} fw={row.day === w.total ? 600 : undefined}>
              <Table.Td>{row.day}</Table.Td>
              <Table.Td>{w.usageKind[row.kind]}</Table.Td>
              <Table.Td ta="right">{when.count(row.calls ?? 0)}</Table.Td>
              <Table.Td ta="right">{when.count(row.input_tokens ?? 0)}</Table.Td>
              <Table.Td ta="right">{when.count(row.output_tokens ?? 0)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
