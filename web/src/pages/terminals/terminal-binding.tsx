/** Which soul a terminal carries, and who usually speaks there. */

import { Button, Group, Select, Text, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useEffect, useState } from "react";

import { useAccess } from "~/access";
import { api, ask } from "~/api/client";
import { keys, queryClient } from "~/api/queries";
import type { Terminal } from "~/pages/terminals/use-terminals";
import { showDone, showProblem } from "~/parts/problem";
import { useSouls } from "~/parts/soul-picker";
import { terminalWords } from "~/words/terminals";
import { useWords } from "~/words/words";

export function TerminalBinding({ terminal }: { terminal: Terminal }) {
  const w = useWords(terminalWords);
  const access = useAccess();
  const souls = useSouls();
  const [soulId, setSoulId] = useState(terminal.soul_id);
  const [person, setPerson] = useState(terminal.user_id ?? "");
  useEffect(() => setSoulId(terminal.soul_id), [terminal.soul_id]);
  useEffect(() => setPerson(terminal.user_id ?? ""), [terminal.user_id]);
  const bind = useMutation({
    mutationFn: (body: { terminal_id: string; soul_id: string; user_id?: string }) =>
      ask(api.POST("/v1/souls/select", { body })),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: keys.terminals });
      showDone(w.bound);
    },
    onError: showProblem,
  });
  const changed = soulId !== terminal.soul_id || person.trim() !== (terminal.user_id ?? "");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!soulId || !changed || bind.isPending) return;
    bind.mutate({ terminal_id: terminal.terminal_id, soul_id: soulId, user_id: person.trim() || undefined });
  };
  if (!access.isTerminal) return <ReadOnly terminal={terminal} />;
  return (
    <form onSubmit={submit}>
      <Group align="flex-end" gap="sm">
        <Select
          label={w.soul}
          placeholder={w.noSoul}
          data={(souls.data ?? []).map((soul) => ({ value: soul.soul_id, label: `${soul.name} · ${soul.mbti_type}` }))}
          value={soulId}
          onChange={setSoulId}
          allowDeselect={false}
          searchable
        />
        {access.actsForAnybody && (
          <TextInput
            label={w.person}
            placeholder="default"
            value={person}
            maxLength={128}
            onChange={(event) => setPerson(event.currentTarget.value)}
          />
        )}
        {changed && soulId && (
          <Button type="submit" loading={bind.isPending}>
            {w.bind}
          </Button>
        )}
      </Group>
    </form>
  );
}

function ReadOnly({ terminal }: { terminal: Terminal }) {
  const w = useWords(terminalWords);
  const souls = useSouls();
  const soul = souls.data?.find((one) => one.soul_id === terminal.soul_id);
  return (
    <Text size="sm">
      {w.soul}: {soul?.name ?? w.noSoul} · {w.person}: {terminal.user_id ?? w.personHidden}
    </Text>
  );
}
