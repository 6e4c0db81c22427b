import { Badge, Button, Group, Loader, Stack, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { api, ask } from "~/api/client";
import { ProblemNote } from "~/parts/problem";
import { operationsWords } from "~/words/operations";
import { useWords } from "~/words/words";

const COLORS = { ok: "green", warning: "yellow", problem: "red" } as const;

export function Doctor() {
  const w = useWords(operationsWords);
  const examined = useQuery({
    queryKey: ["doctor"],
    queryFn: () => ask(api.GET("/v1/doctor")),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const findings = examined.data ?? [];
  const problems = findings.filter((finding) => finding.level !== "ok").length;
  return (
    <Stack className="panel">
      <Text size="sm" c="dimmed">
        {w.doctorText}
      </Text>
      <Group>
        <Button onClick={() => void examined.refetch()} loading={examined.isFetching}>
          {w.examine}
        </Button>
        <Text role="status" size="sm">
          {examined.isFetching ? w.examining : examined.data && (problems ? w.doctorProblems(problems) : w.doctorAllWell)}
        </Text>
      </Group>
      {examined.isPending && <Loader role="img" aria-label={w.examining} />}
      {examined.error && <ProblemNote problem={examined.error} />}
      {findings.length > 0 && (
        <Table aria-label={w.doctor} fz="sm">
          <Table.Tbody>
            {findings.map((finding, n) => (
              <Table.Tr key={n}>
                <Table.Td w={100}>
                  <Badge color={COLORS[finding.level]} variant="light" miw="max-content">
                    {w[finding.level]}
                  </Badge>
                </Table.Td>
                <Table.Th scope="row">{finding.subject}</Table.Th>
                <Table.Td style={{ overflowWrap: "anywhere" }}>{finding.detail}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Stack>
  );
}
