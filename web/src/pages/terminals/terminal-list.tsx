/** All terminals with their presence. */

import { Stack, Text } from "@mantine/core";
import { Link } from "react-router";

import type { Terminal } from "~/pages/terminals/use-terminals";
import { useSouls } from "~/parts/soul-picker";
import { useRobot } from "~/robot/store";
import { terminalWords } from "~/words/terminals";
import { useWords } from "~/words/words";

import styles from "./terminals.module.css";

export function TerminalList({ terminals, chosen }: { terminals: Terminal[]; chosen: string | undefined }) {
  const w = useWords(terminalWords);
  if (terminals.length === 0) {
    return (
      <Stack gap={4}>
        <Text size="sm">{w.empty}</Text>
        <Text size="xs" c="dimmed">
          {w.emptyHint}
        </Text>
      </Stack>
    );
  }
  return (
    <Stack gap={2} component="ul" m={0} p={0} style={{ listStyle: "none" }}>
      {terminals.map((terminal) => (
        <li key={terminal.terminal_id}>
          <Item terminal={terminal} chosen={terminal.terminal_id === chosen} />
        </li>
      ))}
    </Stack>
  );
}

function Item({ terminal, chosen }: { terminal: Terminal; chosen: boolean }) {
  const w = useWords(terminalWords);
  const souls = useSouls();
  const robot = useRobot((state) => (state.online ? state.terminalId : null));
  const soul = souls.data?.find((one) => one.soul_id === terminal.soul_id);
  const here = robot === terminal.terminal_id;
  return (
    <Link
      to={`/terminals/${encodeURIComponent(terminal.terminal_id)}`}
      className={styles.item}
      aria-current={chosen ? "page" : undefined}
      data-testid={`terminal-${terminal.terminal_id}`}
      data-online={terminal.online}
    >
      <span className={styles.dot} data-online={terminal.online} aria-hidden />
      <span style={{ minWidth: 0 }}>
        <Text size="sm" fw={600} truncate>
          {terminal.terminal_id}
        </Text>
        <Text size="xs" c="dimmed" truncate>
          {terminal.online ? w.online : w.offline} · {soul?.name ?? w.noSoul}
          {here && ` · ${w.robotHere}`}
        </Text>
      </span>
    </Link>
  );
}
