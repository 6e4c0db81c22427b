/** The three axes of how a soul feels: pleasure, arousal and dominance, each from -1 to 1. */

import { Group, Progress, Stack, Text } from "@mantine/core";
import { useMemo } from "react";

import type { Line } from "~/parts/plot";
import { AXES } from "~/theme";
import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";

export interface Pad {
  p: number;
  a: number;
  d: number;
}

export function useAxes() {
  const w = useWords(commonWords);
  return useMemo(
    () =>
      [
        { axis: "p", name: w.pleasure, color: AXES.p },
        { axis: "a", name: w.arousal, color: AXES.a },
        { axis: "d", name: w.dominance, color: AXES.d },
      ] as const,
    [w],
  );
}

/** The axes as lines of a plot. */
export function useAxisLines(points: Pad[]): Line[] {
  const axes = useAxes();
  return useMemo(
    () => axes.map(({ axis, name, color }) => ({ label: name, color, values: points.map((point) => point[axis]) })),
    [axes, points],
  );
}

/** The axes as bars. */
export function Axes({ of }: { of: Pad }) {
  return (
    <Stack gap={6} style={{ flex: 1, minWidth: 0 }}>
      {useAxes().map(({ axis, name, color }) => (
        <Bar key={axis} name={name} value={of[axis]} percent={50 * (of[axis] + 1)} color={color} />
      ))}
    </Stack>
  );
}

interface BarProps {
  name: string;
  value: number;
  /** How much of the bar is filled. */
  percent: number;
  color?: string;
}

export function Bar({ name, value, percent, color }: BarProps) {
  return (
    <Group gap="xs" wrap="nowrap">
      <Text size="xs" w={76}>
        {name}
      </Text>
      <Progress value={percent} color={color} size="sm" aria-label={`${name} ${value.toFixed(2)}`} style={{ flex: 1 }} />
      <Text size="xs" w={42} ta="right" ff="monospace">
        {value.toFixed(2)}
      </Text>
    </Group>
  );
}
