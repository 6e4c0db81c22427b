/** Where the nodes of a graph are drawn. A node that is a graph itself is drawn with that graph inside. */

import dagre from "@dagrejs/dagre";

import type { Schemas } from "~/api/client";

export type Graph = Schemas["GraphOut"];

export interface Point {
  x: number;
  y: number;
}

export interface DrawnNode extends Point {
  /** `turn/emotion`: unique among all graphs. */
  key: string;
  graph: string;
  node: string;
  kind: "start" | "end" | "node" | "group";
  width: number;
  height: number;
  /** The group that it lies in; x and y are then relative to it. */
  parent?: string;
}

export interface DrawnEdge {
  key: string;
  source: string;
  target: string;
  conditional: boolean;
  /** The way it goes, in the coordinates of the whole drawing. */
  points: Point[];
}

export interface Drawing {
  nodes: DrawnNode[];
  edges: DrawnEdge[];
  width: number;
  height: number;
}

export const START = "__start__";
export const END = "__end__";

const NODE = { width: 158, height: 46 };
const END_POINT = { width: 26, height: 26 };
const PADDING = 14;
const TITLE = 24;

export const keyOf = (graph: string, node: string) => `${graph}/${node}`;

/** The graph that runs inside of a node; undefined for most. */
export function graphInside(graphs: readonly Graph[], node: Graph["nodes"][number]): Graph | undefined {
  return graphs.find(({ name }) => name === (node.subgraph ?? node.id));
}

export function drawing(graphs: readonly Graph[], name: string): Drawing {
  const graph = graphs.find((one) => one.name === name);
  if (!graph) return { nodes: [], edges: [], width: 0, height: 0 };
  const inner = new Map(
    graph.nodes.flatMap((node) => {
      const inside = graphInside(graphs, node);
      return inside ? [[node.id, placed(inside, "LR", false, new Map())] as const] : [];
    }),
  );
  const outer = placed(graph, "TB", true, inner);
  const groups = outer.nodes.filter(({ kind }) => kind === "group");
  const nested = groups.map((group) => within(group, inner.get(group.node)!));
  return {
    ...outer,
    nodes: [...outer.nodes, ...nested.flatMap(({ nodes }) => nodes)],
    edges: [...outer.edges, ...nested.flatMap(({ edges }) => edges)],
  };
}

/** An inner drawing at its place in the group. */
function within(group: DrawnNode, { nodes, edges }: Drawing): Pick<Drawing, "nodes" | "edges"> {
  const x = PADDING;
  const y = PADDING + TITLE;
  return {
    nodes: nodes.map((node) => ({ ...node, x: node.x + x, y: node.y + y, parent: group.key })),
    edges: edges.map((edge) => ({
      ...edge,
      points: edge.points.map((point) => ({ x: point.x + group.x + x, y: point.y + group.y + y })),
    })),
  };
}

function placed(graph: Graph, rankdir: "TB" | "LR", ends: boolean, inner: Map<string, Drawing>): Drawing {
  const plan = new dagre.graphlib.Graph({ multigraph: true });
  plan.setGraph({ rankdir, nodesep: 34, ranksep: rankdir === "TB" ? 30 : 56, marginx: 8, marginy: 8 });
  plan.setDefaultEdgeLabel(() => ({}));
  const shown = graph.nodes.filter(({ id }) => ends || (id !== START && id !== END));
  const names = new Set(shown.map(({ id }) => id));
  for (const { id } of shown) plan.setNode(id, { ...sizeOf(id, inner.get(id)) });
  const edges = graph.edges.filter(({ source, target }) => names.has(source) && names.has(target));
  for (const { source, target } of edges) plan.setEdge(source, target, {}, `${source}>${target}`);
  dagre.layout(plan);
  const { width = 0, height = 0 } = plan.graph() as { width?: number; height?: number };
  return {
    width,
    height,
    nodes: shown.map(({ id }) => drawnNode(graph.name, id, plan.node(id) as Box, inner.has(id))),
    edges: edges.map(({ source, target, conditional }) => ({
      key: `${graph.name}/${source}>${target}`,
      source: keyOf(graph.name, source),
      target: keyOf(graph.name, target),
      conditional,
      points: (plan.edge(source, target, `${source}>${target}`) as { points: Point[] }).points,
    })),
  };
}

type Box = Point & { width: number; height: number };

function sizeOf(id: string, inner: Drawing | undefined): { width: number; height: number } {
  if (inner) return { width: inner.width + 2 * PADDING, height: inner.height + 2 * PADDING + TITLE };
  return id === START || id === END ? END_POINT : NODE;
}

/** The planner knows the middle of a node, the drawing its corner. */
function drawnNode(graph: string, node: string, box: Box, group: boolean): DrawnNode {
  const kind = node === START ? "start" : node === END ? "end" : group ? "group" : "node";
  const { width, height } = box;
  return { key: keyOf(graph, node), graph, node, kind, width, height, x: box.x - width / 2, y: box.y - height / 2 };
}

/** A smooth line through the points. */
export function pathOf(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  const curves = rest.slice(0, -1).map((point, n) => {
    const next = rest[n + 1]!;
    return `Q ${point.x} ${point.y} ${(point.x + next.x) / 2} ${(point.y + next.y) / 2}`;
  });
  const last = rest.at(-1);
  return [`M ${first.x} ${first.y}`, ...curves, ...(last ? [`L ${last.x} ${last.y}`] : [])].join(" ");
}

/** The names of the nodes of a drawing, or of a group in it, in the order in which one reads them. */
export function inOrder({ nodes }: Drawing, parent?: string): string[] {
  const shown = nodes.filter((node) => node.parent === parent);
  return shown.sort((a, b) => a.y - b.y || a.x - b.x).map(({ node }) => node);
}
