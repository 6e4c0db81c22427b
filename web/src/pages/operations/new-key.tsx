import { Alert, Button, Code, CopyButton, Group, MultiSelect, Select, Stack, Text, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";

import { type Schemas, api, ask } from "~/api/client";
import { useKey } from "~/api/key";
import { keys, queryClient } from "~/api/queries";
import { Dialog } from "~/parts/dialog";
import { showDone, showProblem } from "~/parts/problem";
import { useSouls } from "~/parts/soul-picker";
import { commonWords } from "~/words/common";
import { operationsWords } from "~/words/operations";
import { useWords } from "~/words/words";

type Scope = Schemas["NewKey"]["scope"];

interface NewKeyProps {
  opened: boolean;
  isFirst: boolean;
  onClose: () => void;
}

export function NewKey({ opened, isFirst, onClose }: NewKeyProps) {
  const w = useWords(operationsWords);
  const [secret, setSecret] = useState<string | null>(null);
  const close = () => {
    setSecret(null);
    onClose();
  };
  return (
    <Dialog opened={opened} onClose={close} title={secret ? w.secretTitle : w.newKey}>
      {secret ? <Secret secret={secret} onClose={close} /> : <Form isFirst={isFirst} onMade={setSecret} />}
    </Dialog>
  );
}

function Form({ isFirst, onMade }: { isFirst: boolean; onMade: (secret: string) => void }) {
  const w = useWords(operationsWords);
  const common = useWords(commonWords);
  const souls = useSouls();
  const useSecret = useKey((state) => state.use);
  const [name, setName] = useState("");
  const [scope, setScope] = useState<Scope>(isFirst ? "owner" : "chat");
  const [person, setPerson] = useState("");
  const [soulIds, setSoulIds] = useState<string[]>([]);
  const make = useMutation({
    mutationFn: () => {
      const user_id = scope === "owner" ? undefined : person.trim() || undefined;
      return ask(api.POST("/v1/keys", { body: { name: name.trim(), scope, user_id, soul_ids: soulIds } }));
    },
    onSuccess: async (made) => {
      if (isFirst && made.scope === "owner") {
        useSecret(made.secret);
        showDone(w.firstKey);
        await queryClient.invalidateQueries({ queryKey: keys.me });
      }
      onMade(made.secret);
      await queryClient.invalidateQueries({ queryKey: ["keys"] });
    },
    onError: showProblem,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() && !make.isPending) make.mutate();
  };
  const scopes = [
    { value: "owner", label: w.scopeOwner },
    ...(isFirst
      ? []
      : [
          { value: "chat", label: w.scopeChat },
          { value: "terminal", label: w.scopeTerminal },
        ]),
  ];
  return (
    <form onSubmit={submit}>
      <Stack>
        {isFirst && <Alert color="yellow">{w.makeFirstWarning}</Alert>}
        <TextInput
          label={common.name}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={80}
          data-autofocus
        />
        <Select label={w.scope} data={scopes} value={scope} onChange={(value) => value && setScope(value as Scope)} allowDeselect={false} />
        {scope !== "owner" && (
          <TextInput label={w.person} description={w.personHint} value={person} onChange={(event) => setPerson(event.currentTarget.value)} />
        )}
        <MultiSelect
          label={w.souls}
          description={w.soulsHint}
          data={(souls.data ?? []).map((soul) => ({ value: soul.soul_id, label: soul.name }))}
          value={soulIds}
          onChange={setSoulIds}
        />
        <Button type="submit" loading={make.isPending} disabled={!name.trim()}>
          {common.create}
        </Button>
      </Stack>
    </form>
  );
}

function Secret({ secret, onClose }: { secret: string; onClose: () => void }) {
  const w = useWords(operationsWords);
  const common = useWords(commonWords);
  return (
    <Stack>
      <Text size="sm">{w.secretText}</Text>
      <Code block data-testid="secret">
        {secret}
      </Code>
      <Group justify="flex-end">
        <CopyButton value={secret}>
          {({ copied, copy }) => (
            <Button variant="light" onClick={copy} aria-live="polite">
              {copied ? common.copied : common.copy}
            </Button>
          )}
        </CopyButton>
        <Button onClick={onClose}>{common.close}</Button>
      </Group>
    </Stack>
  );
}
