/** The numbers of a plot: the last ones, if there are many. */

import { ScrollArea, Table } from "@mantine/core";

import type { Line } from "~/parts/plot";

interface NumbersTableProps {
  label: string;
  xs: number[];
  lines: Line[];
  shown: (x: number) => string;
}

const MOST_ROWS = 200;

export function NumbersTable({ label, xs, lines, shown }: NumbersTableProps) {
  const first = Math.max(0, xs.length - MOST_ROWS);
  return (
    <ScrollArea.Autosize mah={220} tabIndex={0} role="region" aria-label={label}>
      <Table fz="xs" aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th />
            {lines.map((line) => (
              <Table.Th key={line.label}>{line.label}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {xs.slice(first).map((x, row) => (
            <Table.Tr key={`${x}-${row}`}>
              <Table.Td>{shown(x)}</Table.Td>
              {lines.map((line) => (
                <Table.Td key={line.label}>{line.values[first + row]?.toFixed(3) ?? ""}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea.Autosize>
  );
}
