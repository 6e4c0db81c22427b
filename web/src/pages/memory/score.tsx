import { Group, Text } from "@mantine/core";

import { memoryWords } from "~/words/memory";
import { useWords } from "~/words/words";

import css from "./memory.module.css";

/** How well something fits: its score, and how it compares to the best. */
export function Score({ value, best }: { value: number | null; best: number }) {
  const w = useWords(memoryWords);
  if (value === null) {
    return (
      <Text size="xs" c="dimmed">
        {w.scoreUnknown}
      </Text>
    );
  }
  const share = best > 0 ? Math.max(0, Math.min(1, value / best)) : 0;
  return (
    <Group gap={6}>
      <div className={css.score} aria-hidden>
        <div style={{ width: `${100 * share}%` }} />
      </div>
      <Text size="xs" c="dimmed">
        {w.score(value.toFixed(2))}
      </Text>
    </Group>
  );
}
