/** Asks before unsaved changes are lost, be it by a link, the back button or by closing the tab. */

import { Button, Group, Text } from "@mantine/core";
import { useEffect } from "react";
import { useBlocker } from "react-router";

import { Dialog } from "~/parts/dialog";
import { leaveWords } from "~/words/leave";
import { useWords } from "~/words/words";

/** `navigate(to, UNGUARDED)`: what was edited is gone anyway. */
export const UNGUARDED = { state: { unguarded: true } };

export function LeaveGuard({ unsaved }: { unsaved: boolean }) {
  const w = useWords(leaveWords);
  const blocker = useBlocker(({ currentLocation, nextLocation }) => {
    const state = nextLocation.state as { unguarded?: boolean } | null;
    return unsaved && !state?.unguarded && currentLocation.pathname !== nextLocation.pathname;
  });
  useEffect(() => {
    if (!unsaved) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [unsaved]);
  const stay = () => blocker.reset?.();
  return (
    <Dialog opened={blocker.state === "blocked"} onClose={stay} title={w.title}>
      <Text size="sm" mb="md">
        {w.question}
      </Text>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={stay} data-autofocus>
          {w.stay}
        </Button>
        <Button color="red" onClick={() => blocker.proceed?.()}>
          {w.leave}
        </Button>
      </Group>
    </Dialog>
  );
}
