/** Rename a soul, save it as a character, delete it. */

import { Select, Text, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, ask } from "~/api/client";
import { keys } from "~/api/queries";
import { FormDialog } from "~/parts/dialog";
import { LimitedInput } from "~/parts/limited";
import { excessOf } from "~/parts/limits";
import { showDone, showProblem } from "~/parts/problem";
import { commonWords } from "~/words/common";
import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import { useSessionName } from "./session-name";
import { useSessions } from "./sessions";
import type { OfSoul } from "./soul";

interface SoulDialogProps extends OfSoul {
  onClose: () => void;
}

const MOST_OF_NAME = 80;

const isName = (name: string) => name.trim() !== "" && excessOf(name, MOST_OF_NAME) === 0;

export function RenameSoul({ soul, onClose }: SoulDialogProps) {
  const w = useWords(soulWords);
  const common = useWords(commonWords);
  const client = useQueryClient();
  const [name, setName] = useState(soul.name);
  const path = { soul_id: soul.soul_id };
  const rename = useMutation({
    mutationFn: () => ask(api.PATCH("/v1/souls/{soul_id}", { params: { path }, body: { name: name.trim() } })),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: keys.souls });
      showDone(w.renamed);
      onClose();
    },
    onError: showProblem,
  });
  return (
    <FormDialog
      title={w.rename}
      submit={common.save}
      pending={rename.isPending}
      ready={isName(name) && name.trim() !== soul.name}
      onSubmit={rename.mutate}
      onClose={onClose}
    >
      <LimitedInput
        label={w.newName}
        value={name}
        most={MOST_OF_NAME}
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus
      />
    </FormDialog>
  );
}

export function SaveAsCharacter({ soul, onClose }: SoulDialogProps) {
  const w = useWords(soulWords);
  const common = useWords(commonWords);
  const client = useQueryClient();
  const sessions = useSessions(soul.soul_id);
  const nameOf = useSessionName();
  const [name, setName] = useState(soul.name);
  const [sessionId, setSessionId] = useState<string | null>(null);
  const path = { soul_id: soul.soul_id };
  const body = { name: name.trim(), session_id: sessionId };
  const save = useMutation({
    mutationFn: () => ask(api.POST("/v1/souls/{soul_id}/character", { params: { path }, body })),
    onSuccess: async (character) => {
      await client.invalidateQueries({ queryKey: keys.characters });
      showDone(w.savedAs(character.name));
      onClose();
    },
    onError: showProblem,
  });
  return (
    <FormDialog
      title={w.saveAs}
      submit={common.save}
      pending={save.isPending}
      ready={isName(name)}
      onSubmit={save.mutate}
      onClose={onClose}
    >
      <Text size="sm">{w.saveAsText}</Text>
      <LimitedInput
        label={w.saveAsName}
        value={name}
        most={MOST_OF_NAME}
        onChange={(event) => setName(event.currentTarget.value)}
        data-autofocus
      />
      <Select
        label={w.saveAsSession}
        placeholder={w.saveAsNone}
        data={(sessions.data ?? []).map((session) => ({ value: session.session_id, label: nameOf(session) }))}
        value={sessionId}
        onChange={setSessionId}
        clearable
      />
    </FormDialog>
  );
}

/** Only whoever types its name deletes a soul. */
export function DeleteSoul({ soul, onClose }: SoulDialogProps) {
  const w = useWords(soulWords);
  const common = useWords(commonWords);
  const client = useQueryClient();
  const [typed, setTyped] = useState("");
  const path = { soul_id: soul.soul_id };
  const remove = useMutation({
    mutationFn: () => ask(api.DELETE("/v1/souls/{soul_id}", { params: { path } })),
    onSuccess: async () => {
      onClose();
      client.removeQueries({ queryKey: keys.soul(soul.soul_id) });
      await Promise.all([keys.souls, keys.sessions()].map((queryKey) => client.invalidateQueries({ queryKey })));
      showDone(w.deleted(soul.name));
    },
    onError: showProblem,
  });
  return (
    <FormDialog
      title={w.deleteTitle(soul.name)}
      submit={common.delete}
      color="red"
      pending={remove.isPending}
      ready={typed.trim() === soul.name}
      onSubmit={remove.mutate}
      onClose={onClose}
    >
      <Text size="sm">{w.deleteText}</Text>
      <TextInput
        label={w.deleteType(soul.name)}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
        autoComplete="off"
        data-autofocus
      />
    </FormDialog>
  );
}
