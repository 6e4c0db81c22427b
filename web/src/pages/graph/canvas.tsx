/** The drawing of a graph. Its nodes are lit while they run, and the way of a run stays tinted. */

import "@xyflow/react/dist/style.css";

import { useComputedColorScheme } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import {
  Background,
  Controls,
  type Edge,
  type Node,
  type NodeChange,
  ReactFlow,
  useReactFlow,
  useStore,
} from "@xyflow/react";
import { useEffect, useMemo } from "react";

import { type FlowEdgeData, GraphEdge } from "~/pages/graph/graph-edge";
import { type FlowNodeData, GraphNode } from "~/pages/graph/graph-node";
import { type Drawing, type DrawnNode } from "~/pages/graph/layout";
import { isRunning, type Run, SIGNS, timeText, type Visit, visitsOf } from "~/pages/graph/runs";
import { graphWords } from "~/words/graph";
import { useWords } from "~/words/words";

import styles from "./graph.module.css";

interface CanvasProps {
  name: string;
  drawing: Drawing;
  run: Run | undefined;
  gone: Set<string>;
  selected: string | null;
  onSelect: (key: string) => void;
}

const nodeTypes = { graph: GraphNode };
const edgeTypes = { graph: GraphEdge };
const FIT = { padding: 0.04, maxZoom: 1.15 };

export function Canvas({ name, drawing, run, gone, selected, onSelect }: CanvasProps) {
  const w = useWords(graphWords);
  const scheme = useComputedColorScheme("dark");
  const narrow = useMediaQuery("(max-width: 62em)") ?? false;
  const nodes = useNodes(drawing, run, selected);
  const edges = useMemo(() => flowEdges(drawing, gone), [drawing, gone]);
  const changed = (changes: NodeChange[]) => {
    for (const change of changes) if (change.type === "select" && change.selected) onSelect(change.id);
  };
  return (
    <div className={styles.canvas} role="group" aria-label={w.drawing(name)}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        onNodesChange={changed}
        colorMode={scheme}
        fitView
        fitViewOptions={FIT}
        minZoom={0.2}
        maxZoom={2}
        nodesDraggable={false}
        nodesConnectable={false}
        edgesFocusable={false}
        deleteKeyCode={null}
        panOnDrag={!narrow}
        zoomOnScroll={false}
        preventScrolling={false}
        ariaLabelConfig={{
          "node.a11yDescription.default": w.keyboard,
          "node.a11yDescription.keyboardDisabled": w.keyboard,
          "controls.ariaLabel": w.controls,
          "controls.zoomIn.ariaLabel": w.zoomIn,
          "controls.zoomOut.ariaLabel": w.zoomOut,
          "controls.fitView.ariaLabel": w.fit,
        }}
      >
        <Background gap={22} />
        <Controls showInteractive={false} fitViewOptions={FIT} />
        <FitToPlace />
      </ReactFlow>
    </div>
  );
}

/** Everything stays in sight when the place for it changes. */
function FitToPlace() {
  const { fitView } = useReactFlow();
  const width = useStore((flow) => flow.width);
  const height = useStore((flow) => flow.height);
  useEffect(() => void fitView(FIT), [fitView, width, height]);
  return null;
}

function useNodes(drawing: Drawing, run: Run | undefined, selected: string | null): Node<FlowNodeData>[] {
  const w = useWords(graphWords);
  return useMemo(() => {
    const visits = visitsOf(run);
    const isOver = run !== undefined && !isRunning(run);
    return drawing.nodes.map((node) => flowNode(node, visits.get(node.key), isOver, node.key === selected, w));
  }, [drawing, run, selected, w]);
}

type Words = (typeof graphWords)["en"];

function flowNode(
  drawn: DrawnNode,
  visit: Visit | undefined,
  isOver: boolean,
  selected: boolean,
  w: Words,
): Node<FlowNodeData> {
  const { key, kind, width, height, parent } = drawn;
  const step = kind === "node" || kind === "group";
  const label = kind === "start" ? w.start : kind === "end" ? w.end : drawn.node;
  const note = visit ? noteOf(visit, w) : isOver && step ? w.idle : "";
  return {
    id: key,
    type: "graph",
    position: { x: drawn.x, y: drawn.y },
    width,
    height,
    parentId: parent,
    selected,
    selectable: step,
    focusable: step,
    ariaLabel: w.nodeLabel(label, note || w.idle),
    data: { label, kind, status: visit?.status ?? "idle", sign: visit ? SIGNS[visit.status] : "", note, selected },
  };
}

function noteOf(visit: Visit, w: Words): string {
  if (visit.status === "running") return w.runsNow;
  const time = w.ran(visit.times, timeText(visit.ms));
  return visit.status === "failed" ? w.failedAfter(time) : time;
}

function flowEdges(drawing: Drawing, gone: Set<string>): Edge<FlowEdgeData>[] {
  return drawing.edges.map(({ key, source, target, conditional, points }) => ({
    id: key,
    type: "graph",
    source,
    target,
    selectable: false,
    focusable: false,
    zIndex: 1,
    data: { points, conditional, gone: gone.has(key) },
  }));
}
