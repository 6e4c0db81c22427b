/** The robot in the page, for the terminals and beside a conversation. It is offered to those who may be a terminal. */

import { Group, Stack, Switch, Text, Title } from "@mantine/core";
import { type ReactNode, Suspense } from "react";

import { useAccess } from "~/access";
import { later } from "~/later";
import { Presence } from "~/parts/presence";
import { useBinding } from "~/robot/binding";
import { useRunning } from "~/robot/running";
import { useRobot } from "~/robot/store";
import { robotWords } from "~/words/robot";
import { useWords } from "~/words/words";

const RobotBody = later(async () => (await import("~/robot/robot-body")).RobotBody);

interface RobotPanelProps {
  /** The soul that it carries while it is shown; without it the person chooses here. */
  soulId?: string;
  compact?: boolean;
  /** What can be set, above the robot. */
  children?: ReactNode;
}

export function RobotPanel({ soulId, compact = false, children }: RobotPanelProps) {
  const w = useWords(robotWords);
  const { isTerminal } = useAccess();
  const { enabled, setEnabled } = useRobot();
  useRunning(isTerminal);
  useBinding(soulId);
  if (!isTerminal) return null;
  return (
    <section className="panel" aria-label={w.title} data-testid="robot-panel">
      <Stack gap="sm">
        <Group justify="space-between" wrap="nowrap">
          <Title order={2} size="h5">
            {w.title}
          </Title>
          <Group gap="sm" wrap="nowrap" style={{ minWidth: 0 }}>
            <RobotPresence />
            <Switch
              aria-label={w.on}
              checked={enabled}
              onChange={(event) => setEnabled(event.currentTarget.checked)}
            />
          </Group>
        </Group>
        {children}
        {enabled ? (
          <Suspense fallback={<div style={{ minHeight: 320 }} />}>
            <RobotBody compact={compact} />
          </Suspense>
        ) : (
          <Text size="sm" c="dimmed">
            {w.what}
          </Text>
        )}
      </Stack>
    </section>
  );
}

function RobotPresence() {
  const w = useWords(robotWords);
  const connection = useRobot((robot) => robot.connection);
  const terminalId = useRobot((robot) => robot.terminalId);
  return (
    <Presence state={connection} data-testid="robot-presence">
      {connection === "off" ? w.off : `${w[connection]} · ${terminalId}`}
    </Presence>
  );
}
