/** Whether something is connected: a dot, and a word that is said aloud when it changes. */

import { Badge, type BadgeProps } from "@mantine/core";

const COLOURS = { off: "gray", connecting: "yellow", connected: "green", online: "green", down: "red" };

interface PresenceProps extends BadgeProps {
  state: keyof typeof COLOURS;
  "data-testid"?: string;
}

export function Presence({ state, ...badge }: PresenceProps) {
  return (
    <Badge variant="dot" color={COLOURS[state]} tt="none" fw={400} role="status" data-state={state} miw={0} {...badge} />
  );
}
