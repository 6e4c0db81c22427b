/** A graph as text, for those who do not see its drawing: every node, what it does, and where it leads. */

import { type Drawing, END, type Graph, inOrder, keyOf, START } from "~/pages/graph/layout";
import { graphWords } from "~/words/graph";
import { useWords } from "~/words/words";

type Words = (typeof graphWords)["en"];

interface GraphTextProps {
  graphs: Graph[];
  name: string;
  drawing: Drawing;
}

export function GraphText({ graphs, name, drawing }: GraphTextProps) {
  const w = useWords(graphWords);
  const graph = graphs.find((one) => one.name === name);
  return (
    <details>
      <summary style={{ cursor: "pointer", fontSize: 13, color: "var(--dimmed)" }}>{w.asText}</summary>
      {graph && <Listing graph={graph} graphs={graphs} drawing={drawing} />}
    </details>
  );
}

function Listing({ graph, graphs, drawing, parent }: Omit<GraphTextProps, "name"> & { graph: Graph; parent?: string }) {
  const w = useWords(graphWords);
  const does: Record<string, string> = w.nodes;
  return (
    <ol style={{ margin: "6px 0", paddingLeft: 22, fontSize: 13 }}>
      {inOrder(drawing, parent).map((node) => {
        const inside = graphs.find(({ name }) => name === node);
        return (
          <li key={node}>
            {sentence(graph, node, w)}. {does[node]} {inside && w.contains(node, inside.name)}
            {inside && <Listing graph={inside} graphs={graphs} drawing={drawing} parent={keyOf(graph.name, node)} />}
          </li>
        );
      })}
    </ol>
  );
}

function sentence(graph: Graph, node: string, w: Words): string {
  const name = (id: string) => (id === START ? w.start : id === END ? w.end : id);
  const targets = graph.edges.filter(({ source }) => source === node).map(({ target }) => name(target));
  return targets.length > 0 ? w.leadsTo(name(node), targets.join(w.or)) : w.ends(name(node));
}
