import { Group, Table, Text } from "@mantine/core";

import { commonWords } from "~/words/common";
import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import { anchor, drifted, outline, spot } from "./radar";
import css from "./soul.module.css";

export const TRAITS = ["empathy", "sensitivity", "stability", "expressiveness", "dominance"] as const;
const WIDTH = 320;
const HEIGHT = 226;
const CENTRE = { x: WIDTH / 2, y: 122 };
const RADIUS = 92;
const RINGS = [0.25, 0.5, 0.75, 1];

interface RadarProps {
  born: Record<string, number>;
  drift: Record<string, number>;
}

export function useTraitNames(): string[] {
  const w = useWords(commonWords);
  return TRAITS.map((trait) => (trait === "dominance" ? w.traitDominance : w[trait]));
}

/** The traits it was born with, those it has now, and both as numbers. */
export function Radar({ born, drift }: RadarProps) {
  const w = useWords(soulWords);
  const names = useTraitNames();
  const first = TRAITS.map((trait) => born[trait] ?? 0);
  const moved = TRAITS.map((trait) => drift[trait] ?? 0);
  const now = drifted(first, moved);
  return (
    <Group gap="md" align="center">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} className={css.radar} role="img" aria-label={w.radarLabel}>
        {RINGS.map((ring) => (
          <polygon key={ring} className={css.radarGrid} points={outline(TRAITS.map(() => ring), CENTRE, RADIUS)} />
        ))}
        {TRAITS.map((trait, axis) => {
          const end = spot(axis, TRAITS.length, 1, CENTRE, RADIUS);
          return <line key={trait} className={css.radarGrid} x1={CENTRE.x} y1={CENTRE.y} x2={end.x} y2={end.y} />;
        })}
        <polygon className={css.born} points={outline(first, CENTRE, RADIUS)} />
        <polygon className={css.drifted} points={outline(now, CENTRE, RADIUS)} />
        {names.map((name, axis) => {
          const place = spot(axis, TRAITS.length, 1, CENTRE, RADIUS + 12);
          return (
            <text key={name} className={css.radarLabel} x={place.x} y={place.y + 4} textAnchor={anchor(place, CENTRE)}>
              {name}
            </text>
          );
        })}
      </svg>
      <Table fz="xs" w="auto" style={{ flex: "1 1 220px" }} aria-label={w.radar} verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{w.trait}</Table.Th>
            <Table.Th ta="right">{w.bornWith}</Table.Th>
            <Table.Th ta="right">{w.now}</Table.Th>
            <Table.Th ta="right">{w.drift}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {names.map((name, trait) => (
            <Table.Tr key={name}>
              <Table.Th scope="row" fw={500}>
                {name}
              </Table.Th>
              <Numeric value={first[trait]!} />
              <Numeric value={now[trait]!} />
              <Numeric value={moved[trait]!} signed />
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Group>
  );
}

function Numeric({ value, signed }: { value: number; signed?: boolean }) {
  const digits = signed ? 3 : 2;
  const sign = signed && value >= 0.0005 ? "+" : "";
  const text = value.toFixed(digits).replace(/^-(0\.0+)$/, "$1");
  return (
    <Table.Td ta="right">
      <Text span ff="monospace" size="xs">
        {sign}
        {text}
      </Text>
    </Table.Td>
  );
}
