/** What a node does, and what it returned in a run. */

import { Stack, Text, Title } from "@mantine/core";
import { useEffect, useRef } from "react";

import { useAccess } from "~/access";
import { errorOf, type Run, SIGNS, type Span, timeText } from "~/pages/graph/runs";
import { JsonTree } from "~/parts/json-tree";
import { graphWords } from "~/words/graph";
import { useWords } from "~/words/words";

export function NodeState({ selected, run }: { selected: string | null; run: Run | undefined }) {
  const w = useWords(graphWords);
  const does: Record<string, string> = w.nodes;
  const node = selected?.split("/")[1];
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    if (selected) place.current?.scrollIntoView({ block: "nearest" });
  }, [selected]);
  return (
    <section className="panel" aria-label={w.state} ref={place} data-testid="node-state">
      <Stack gap="xs">
        <Title order={2} size="h5">
          {node ?? w.state}
        </Title>
        {node ? (
          <>
            <Text size="sm" c="dimmed">
              {does[node]}
            </Text>
            <Spans spans={run?.spans.filter(({ key }) => key === selected) ?? []} />
          </>
        ) : (
          <Text size="sm" c="dimmed">
            {w.chooseNode}
          </Text>
        )}
      </Stack>
    </section>
  );
}

function Spans({ spans }: { spans: Span[] }) {
  const w = useWords(graphWords);
  const { isOwner } = useAccess();
  if (spans.length === 0) return <Text size="sm">{w.noVisit}</Text>;
  return (
    <div role="status">
      {!isOwner && (
        <Text size="xs" c="dimmed">
          {w.forOwners}
        </Text>
      )}
      {spans.map((span, n) => (
        <div key={n}>
          <Text size="sm" fw={600}>
            {span.ms === null ? w.stillRunning : w.times(spans.length > 1 ? n + 1 : 0, timeText(span.ms))}
          </Text>
          {span.failed && <Failure span={span} />}
          {isOwner && span.ms !== null && !span.failed && <Returned update={span.update} />}
        </div>
      ))}
    </div>
  );
}

function Failure({ span }: { span: Span }) {
  const w = useWords(graphWords);
  return (
    <Text size="sm" c="red" style={{ overflowWrap: "anywhere" }}>
      <span aria-hidden>{SIGNS.failed} </span>
      {w.whatFailed(timeText(span.ms ?? 0), errorOf(span))}
    </Text>
  );
}

function Returned({ update }: { update: unknown }) {
  const w = useWords(graphWords);
  const empty = update == null || (typeof update === "object" && Object.keys(update).length === 0);
  if (empty) {
    return (
      <Text size="xs" c="dimmed">
        {w.returnedNothing}
      </Text>
    );
  }
  return <JsonTree name={w.returned} value={update} open={2} />;
}
