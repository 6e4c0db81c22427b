import { Badge, Button, Code, Group, SegmentedControl, Stack, Table, Text } from "@mantine/core";
import { useInfiniteQuery, useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";

import { type Schemas, api, ask } from "~/api/client";
import { queryClient } from "~/api/queries";
import { ProblemNote, showDone, showProblem } from "~/parts/problem";
import { commonWords } from "~/words/common";
import { operationsWords } from "~/words/operations";
import { useWords } from "~/words/words";

type Job = Schemas["JobOut"];
const STATUSES = ["all", "pending", "running", "done", "dead"] as const;
const COLORS = { pending: "blue", running: "yellow", done: "green", dead: "red" } as const;
const PAGE = 100;
const EVERY_MS = 5_000;
const RETRY = ["retry-job"];

export function Jobs() {
  const w = useWords(operationsWords);
  const [status, setStatus] = useState<(typeof STATUSES)[number]>("dead");
  const jobs = useInfiniteQuery({
    queryKey: ["jobs", status],
    initialPageParam: undefined as number | undefined,
    queryFn: ({ pageParam }) => {
      const query = { limit: PAGE, before: pageParam, status: status === "all" ? undefined : status };
      return ask(api.GET("/v1/jobs", { params: { query } }));
    },
    getNextPageParam: (page) => (page.length === PAGE ? page.at(-1)?.job_id : undefined),
    refetchInterval: EVERY_MS,
  });
  const retry = useRetry();
  // A double click asks twice before the button is seen to be busy.
  const tryAgain = (jobId?: number) => {
    if (queryClient.isMutating({ mutationKey: RETRY }) === 0) retry.mutate(jobId);
  };
  const found = jobs.data?.pages.flat() ?? [];
  return (
    <Stack className="panel">
      <Text size="sm" c="dimmed">
        {w.jobsText}
      </Text>
      <Group justify="space-between">
        <SegmentedControl
          aria-label={w.status}
          value={status}
          onChange={(value) => setStatus(value as typeof status)}
          data={STATUSES.map((value) => ({ value, label: w[value] }))}
          size="xs"
        />
        {found.some((job) => job.status === "dead") && (
          <Button size="xs" variant="light" loading={retry.isPending} onClick={() => tryAgain()}>
            {w.retryDead}
          </Button>
        )}
      </Group>
      {jobs.error && <ProblemNote problem={jobs.error} />}
      {!jobs.isPending && found.length === 0 && <Text>{w.jobsEmpty}</Text>}
      {found.length > 0 && <JobTable jobs={found} onRetry={(job) => tryAgain(job.job_id)} busy={retry.isPending} />}
      {jobs.hasNextPage && (
        <Button variant="default" loading={jobs.isFetchingNextPage} onClick={() => void jobs.fetchNextPage()}>
          {w.older}
        </Button>
      )}
    </Stack>
  );
}

/** Another try for one job, or for every dead one. */
function useRetry() {
  const w = useWords(operationsWords);
  return useMutation({
    mutationKey: RETRY,
    mutationFn: async (jobId: number | undefined) => {
      if (jobId === undefined) return (await ask(api.POST("/v1/jobs/retry"))).retried.length;
      await ask(api.POST("/v1/jobs/{job_id}/retry", { params: { path: { job_id: jobId } } }));
      return 1;
    },
    onSuccess: async (count) => {
      showDone(w.retried(count));
      await queryClient.invalidateQueries({ queryKey: ["jobs"] });
    },
    onError: showProblem,
  });
}

interface TableProps {
  jobs: Job[];
  onRetry: (job: Job) => void;
  busy: boolean;
}

function JobTable({ jobs, onRetry, busy }: TableProps) {
  const w = useWords(operationsWords);
  const common = useWords(commonWords);
  return (
    <Table.ScrollContainer minWidth={720}>
      <Table fz="sm" aria-label={w.jobs}>
        <Table.Thead>
          <Table.Tr>
            {[w.job, w.kind, w.status, w.attempts, w.created, w.error].map((name) => (
              <Table.Th key={name}>{name}</Table.Th>
            ))}
            <Table.Th>
              <span className="visually-hidden">{common.retry}</span>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {jobs.map((job) => (
            <Table.Tr key={job.job_id}>
              <Table.Td>{job.job_id}</Table.Td>
              <Table.Td>
                {job.kind}{" "}
                <Link to={`/chat/${encodeURIComponent(job.session_id)}`} style={{ color: "inherit" }}>
                  {w.conversation}
                </Link>
              </Table.Td>
              <Table.Td>
                <Badge color={COLORS[job.status]} variant="light" miw="max-content">
                  {w[job.status]}
                </Badge>
              </Table.Td>
              <Table.Td>{job.attempts}</Table.Td>
              <Table.Td>{new Date(job.created_at).toLocaleString()}</Table.Td>
              <Table.Td maw={360}>{job.error && <ErrorText error={job.error} />}</Table.Td>
              <Table.Td>
                {job.status === "dead" && (
                  <Button size="compact-xs" variant="light" disabled={busy} onClick={() => onRetry(job)}>
                    {common.retry}
                  </Button>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function ErrorText({ error }: { error: string }) {
  const [line, ...more] = error.split("\n");
  if (more.length === 0) return <>{line}</>;
  return (
    <details>
      <summary>{line}</summary>
      <Code block>{more.join("\n")}</Code>
    </details>
  );
}
