/** A line of the drawing, along the way that was planned for it, with its arrow. */

import type { Edge, EdgeProps } from "@xyflow/react";

import { pathOf, type Point } from "~/pages/graph/layout";

import styles from "./graph.module.css";

export interface FlowEdgeData extends Record<string, unknown> {
  points: Point[];
  conditional: boolean;
  gone: boolean;
}

export function GraphEdge({ data }: EdgeProps<Edge<FlowEdgeData>>) {
  if (!data) return null;
  const { points, conditional, gone } = data;
  return (
    <g>
      <path className={styles.edge} d={pathOf(points)} data-conditional={conditional} data-gone={gone} />
      <path className={styles.arrow} d={arrowOf(points)} data-gone={gone} />
    </g>
  );
}

const LENGTH = 8;

/** A head at the last point, in the direction of the last piece. */
function arrowOf(points: readonly Point[]): string {
  const tip = points.at(-1);
  const before = points.at(-2);
  if (!tip || !before) return "";
  const angle = Math.atan2(tip.y - before.y, tip.x - before.x);
  const corner = (turn: number) =>
    `${tip.x - LENGTH * Math.cos(angle + turn)} ${tip.y - LENGTH * Math.sin(angle + turn)}`;
  return `M ${tip.x} ${tip.y} L ${corner(0.5)} L ${corner(-0.5)} Z`;
}
