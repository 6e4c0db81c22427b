import { Badge, Button, Group, Stack, Table, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { type Schemas, Problem, api, ask } from "~/api/client";
import { queryClient } from "~/api/queries";
import { NewKey } from "~/pages/operations/new-key";
import { ConfirmButton } from "~/parts/confirm";
import { ProblemNote, showProblem } from "~/parts/problem";
import { useSouls } from "~/parts/soul-picker";
import { operationsWords } from "~/words/operations";
import { useWords } from "~/words/words";

type Key = Schemas["KeyOut"];

export function Keys() {
  const w = useWords(operationsWords);
  const made = useQuery({ queryKey: ["keys"], queryFn: () => ask(api.GET("/v1/keys")) });
  const [asking, setAsking] = useState(false);
  return (
    <Stack className="panel">
      <Group justify="space-between">
        <Text size="sm" c="dimmed" maw={640}>
          {w.keysText}
        </Text>
        <Button onClick={() => setAsking(true)}>{w.newKey}</Button>
      </Group>
      {made.error && <ProblemNote problem={made.error} onRetry={() => void made.refetch()} />}
      {made.data?.length === 0 && <Text>{w.keysEmpty}</Text>}
      {made.data && made.data.length > 0 && <KeyTable made={made.data} />}
      {made.data && <NewKey opened={asking} isFirst={made.data.length === 0} onClose={() => setAsking(false)} />}
    </Stack>
  );
}

function KeyTable({ made }: { made: Key[] }) {
  const w = useWords(operationsWords);
  const souls = useSouls();
  const soulName = (soulId: string) => souls.data?.find((soul) => soul.soul_id === soulId)?.name ?? soulId;
  return (
    <Table.ScrollContainer minWidth={640}>
      <Table fz="sm" aria-label={w.keys}>
        <Table.Thead>
          <Table.Tr>
            {["", w.scope, w.person, w.souls, w.made, ""].map((name, n) => (
              <Table.Th key={n}>{name}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {made.map((key) => (
            <Table.Tr key={key.key_id}>
              <Table.Th scope="row">{key.name}</Table.Th>
              <Table.Td>{key.scope}</Table.Td>
              <Table.Td>{key.user_id ?? w.nobody}</Table.Td>
              <Table.Td>{key.soul_ids.map(soulName).join(", ") || w.everySoul}</Table.Td>
              <Table.Td>{new Date(key.created_at).toLocaleString()}</Table.Td>
              <Table.Td>{key.revoked_at ? <Badge color="gray">{w.revoked}</Badge> : <Revoke one={key} />}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** The last owner key is revoked only when the person insists. */
function Revoke({ one }: { one: Key }) {
  const w = useWords(operationsWords);
  const [last, setLast] = useState(false);
  const revoke = useMutation({
    mutationFn: (force: boolean) =>
      ask(api.DELETE("/v1/keys/{key_id}", { params: { path: { key_id: one.key_id }, query: { force } } })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["keys"] }),
    onError: (problem) => {
      if (problem instanceof Problem && problem.code === "last_owner_key") setLast(true);
      else showProblem(problem);
    },
  });
  return (
    <ConfirmButton
      question={last ? w.revokeLast : w.revokeAsk(one.name)}
      onConfirm={() => revoke.mutate(last)}
      loading={revoke.isPending}
      aria-label={`${w.revoke} ${one.name}`}
    >
      {last ? `${w.revoke}!` : w.revoke}
    </ConfirmButton>
  );
}
