/** Says that the server or the network is gone, when the next try comes, and what is kept meanwhile. */

import { Button, Group, Text } from "@mantine/core";
import { useInterval } from "@mantine/hooks";
import { IconPlugConnectedX } from "@tabler/icons-react";
import { useEffect, useState } from "react";

import { reconnect, useLive } from "~/live/live";
import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";

/** A connection that is back within this time was not worth a word. */
const GRACE_MS = 700;

export function ConnectionBanner() {
  const w = useWords(commonWords);
  const connection = useLive((state) => state.connection);
  const offline = useLive((state) => state.offline);
  const retryAt = useLive((state) => state.retryAt);
  const unsent = useLive((state) => Object.values(state.turns).filter((turn) => turn.phase !== "failed").length);
  const [shown, setShown] = useState(false);
  const [now, setNow] = useState(Date.now());
  const clock = useInterval(() => setNow(Date.now()), 500);
  const open = connection === "open";
  useEffect(() => {
    if (open) return setShown(false);
    const timer = setTimeout(() => setShown(true), GRACE_MS);
    clock.start();
    return () => {
      clearTimeout(timer);
      clock.stop();
    };
  }, [open]);
  return (
    <div role="status" aria-live="polite">
      {shown && (
        <Group bg="red.9" c="white" px="md" py={6} gap="sm" data-testid="connection-down">
          <IconPlugConnectedX size={18} aria-hidden />
          <Text size="sm">{offline ? w.connectionOffline : w.connectionDown}</Text>
          {retryAt !== null && <Text size="sm">{w.retryIn(Math.max(0, Math.ceil((retryAt - now) / 1000)))}</Text>}
          {unsent > 0 && <Text size="sm">{w.unsent(unsent)}</Text>}
          <Button size="compact-sm" variant="white" color="dark" onClick={reconnect}>
            {w.retryNow}
          </Button>
        </Group>
      )}
    </div>
  );
}
