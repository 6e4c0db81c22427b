/** A part of a page: a panel with its heading, what can be done in it, and how it is while it is being read. */

import { Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { ProblemNote } from "~/parts/problem";
import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";

interface SectionProps {
  title: string;
  text?: string;
  actions?: ReactNode;
  children: ReactNode;
}

export function Section({ title, text, actions, children }: SectionProps) {
  return (
    <section className="panel" aria-label={title}>
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <Title order={2} size="h5">
            {title}
          </Title>
          {actions && <Group gap="xs">{actions}</Group>}
        </Group>
        {text && (
          <Text size="sm" c="dimmed">
            {text}
          </Text>
        )}
        {children}
      </Stack>
    </section>
  );
}

interface ReadProps<Data> {
  query: UseQueryResult<Data>;
  children: (data: Data) => ReactNode;
}

/** What was read, or that it is being read, or why it could not be. */
export function Read<Data>({ query, children }: ReadProps<Data>) {
  const w = useWords(commonWords);
  if (query.data !== undefined) return children(query.data);
  if (query.error) return <ProblemNote problem={query.error} onRetry={() => void query.refetch()} />;
  return (
    <Stack gap="xs" role="status" aria-label={w.loading}>
      <Skeleton height={18} />
      <Skeleton height={18} width="80%" />
      <Skeleton height={18} width="60%" />
    </Stack>
  );
}

export function Empty({ children }: { children: ReactNode }) {
  return (
    <Text size="sm" c="dimmed">
      {children}
    </Text>
  );
}
