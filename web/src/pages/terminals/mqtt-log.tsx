/** What goes over the broker, as it goes. */

import { Button, Group, MultiSelect, Select, Stack, Text, TextInput, Title } from "@mantine/core";
import { IconPlayerPause, IconPlayerPlay, IconTrash } from "@tabler/icons-react";
import { useEffect, useMemo, useState } from "react";

import { useAccess } from "~/access";
import { filtered, type LogFilter, MOST_LINES } from "~/pages/terminals/log-lines";
import { LogRows } from "~/pages/terminals/log-rows";
import { clearLog, openLog, setPaused, useLog } from "~/pages/terminals/log-store";
import { useTerminals } from "~/pages/terminals/use-terminals";
import { Presence } from "~/parts/presence";
import { EVERYTHING, HEARD, SAID, topicOf } from "~/robot/topics";
import { terminalWords } from "~/words/terminals";
import { useWords } from "~/words/words";

const KINDS = [...SAID, ...HEARD];

export function MqttLog() {
  const w = useWords(terminalWords).log;
  const lines = useLog((log) => log.lines);
  const dropped = useLog((log) => log.dropped);
  const [filter, setFilter] = useState<LogFilter>({ terminalId: null, kinds: [], text: "" });
  const shown = useMemo(() => filtered(lines, filter), [lines, filter]);
  useOpenLog();
  return (
    <Stack gap="sm" h="100%" style={{ minHeight: 320 }}>
      <Group justify="space-between">
        <Title order={2} size="h6">
          {w.title}
        </Title>
        <Group gap="xs">
          <Text size="xs" c="dimmed">
            {w.shown(shown.length, lines.length)}
          </Text>
          <State />
        </Group>
      </Group>
      <Controls filter={filter} onFilter={setFilter} />
      {dropped > 0 && (
        <Text size="xs" c="dimmed">
          {w.dropped(MOST_LINES, dropped)}
        </Text>
      )}
      {shown.length === 0 ? (
        <Text size="sm" c="dimmed">
          {lines.length === 0 ? w.empty : w.nothingFits}
        </Text>
      ) : (
        <LogRows lines={shown} />
      )}
    </Stack>
  );
}

/** An owner of all souls hears all terminals, others those that they can see. */
function useOpenLog(): void {
  const { isServerOwner } = useAccess();
  const terminals = useTerminals();
  const seen = (terminals.data ?? []).map((one) => topicOf(one.terminal_id, "#")).join(" ");
  const topics = isServerOwner ? EVERYTHING : seen;
  useEffect(() => (topics ? openLog(topics.split(" ")) : undefined), [topics]);
}

function State() {
  const w = useWords(terminalWords).log;
  const { connection, problem } = useLog();
  return (
    <Presence state={connection} data-testid="log-state">
      {problem ?? w[connection]}
    </Presence>
  );
}

function Controls({ filter, onFilter }: { filter: LogFilter; onFilter: (filter: LogFilter) => void }) {
  const w = useWords(terminalWords).log;
  const { lines, paused, held } = useLog();
  const ids = useMemo(() => [...new Set(lines.map((line) => line.terminalId))].sort(), [lines]);
  const PauseIcon = paused ? IconPlayerPlay : IconPlayerPause;
  return (
    <Group gap="xs" align="flex-end">
      <Select
        size="xs"
        label={w.terminal}
        placeholder={w.allTerminals}
        data={ids}
        value={filter.terminalId}
        onChange={(terminalId) => onFilter({ ...filter, terminalId })}
        clearable
        w={150}
      />
      <MultiSelect
        size="xs"
        label={w.kinds}
        placeholder={filter.kinds.length === 0 ? w.allKinds : undefined}
        data={KINDS}
        value={[...filter.kinds]}
        onChange={(kinds) => onFilter({ ...filter, kinds })}
        clearable
        miw={150}
        style={{ flex: 1 }}
      />
      <TextInput
        size="xs"
        label={w.text}
        value={filter.text}
        onChange={(event) => onFilter({ ...filter, text: event.currentTarget.value })}
        w={140}
      />
      <Button
        size="xs"
        variant="default"
        leftSection={<PauseIcon size={14} aria-hidden />}
        onClick={() => setPaused(!paused)}
      >
        {paused ? w.resume(held.length) : w.pause}
      </Button>
      <Button size="xs" variant="default" leftSection={<IconTrash size={14} aria-hidden />} onClick={clearLog}>
        {w.clear}
      </Button>
    </Group>
  );
}
