/** A node of the drawing: its name, and how it fared. */

import { Handle, type Node, type NodeProps, Position } from "@xyflow/react";

import type { DrawnNode } from "~/pages/graph/layout";

import styles from "./graph.module.css";

export interface FlowNodeData extends Record<string, unknown> {
  label: string;
  kind: DrawnNode["kind"];
  status: string;
  sign: string;
  note: string;
  selected: boolean;
}

export function GraphNode({ data }: NodeProps<Node<FlowNodeData>>) {
  return (
    <>
      <Handle type="target" position={Position.Top} className={styles.handle} isConnectable={false} />
      <Shape {...data} />
      <Handle type="source" position={Position.Bottom} className={styles.handle} isConnectable={false} />
    </>
  );
}

function Shape({ label, kind, status, sign, note, selected }: FlowNodeData) {
  if (kind === "start" || kind === "end") return <span className={styles.end} data-kind={kind} title={label} />;
  return (
    <div
      className={kind === "group" ? styles.group : styles.node}
      data-status={status}
      data-selected={selected}
      data-node={label}
    >
      <span className={styles.name}>{label}</span>
      {(note || kind === "node") && (
        <span className={styles.note}>
          {sign && <span aria-hidden>{sign} </span>}
          {note}
        </span>
      )}
    </div>
  );
}
