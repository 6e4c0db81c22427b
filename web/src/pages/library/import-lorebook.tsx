/** A lorebook needs somebody whose lore it is. */

import { Button, Group, Select, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { IconCheck } from "@tabler/icons-react";
import { useState } from "react";
import { useLocation, useNavigate } from "react-router";

import { api, ask, askRaw, type Schemas } from "~/api/client";
import { keys, queryClient } from "~/api/queries";
import { ProblemNote } from "~/parts/problem";
import { commonWords } from "~/words/common";
import { libraryWords } from "~/words/library";
import { useWords } from "~/words/words";
import type { Kind } from "./fields";
import styles from "./library.module.css";
import { Notes } from "./notes";
import { pathOf, useBackgrounds, useCharacters } from "./queries";

const NEW = "new";

interface Target {
  kind: Kind;
  id: string;
  name: string;
}

/** Add the entries of a file to the lore of a preset. */
export async function addLore(kind: Kind, id: string, file: File): Promise<Schemas["ImportedLore"]> {
  const path = `v1/${kind}/${encodeURIComponent(id)}/lore/import`;
  const answer = await askRaw(path, { method: "POST", body: file });
  await queryClient.invalidateQueries({ queryKey: keys[kind], exact: true });
  return (await answer.json()) as Schemas["ImportedLore"];
}

export function ImportLorebook({ file, onClose }: { file: File; onClose: () => void }) {
  const w = useWords(libraryWords);
  const common = useWords(commonWords);
  const { targets, groups, suggested } = useTargets(file);
  const [chosen, setChosen] = useState<string | null>(null);
  const value = chosen ?? suggested;
  const add = useMutation({
    mutationFn: async () => {
      const target = targets.find((one) => keyOf(one) === value) ?? (await newBackground(nameOf(file)));
      return { target, ...(await addLore(target.kind, target.id, file)) };
    },
  });
  if (add.data) return <Added {...add.data} onClose={onClose} />;
  return (
    <Stack gap="sm">
      <Select
        label={w.whereTo}
        description={w.whereToHint}
        data={[...groups, { group: "", items: [{ value: NEW, label: w.newWorld(nameOf(file)) }] }]}
        value={value}
        allowDeselect={false}
        searchable
        onChange={setChosen}
        data-autofocus
      />
      {add.error && <ProblemNote problem={add.error} />}
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {common.cancel}
        </Button>
        <Button onClick={() => add.mutate()} loading={add.isPending} disabled={value === null}>
          {w.addLore}
        </Button>
      </Group>
    </Stack>
  );
}

function Added({ target, added, notes, onClose }: { target: Target; added: number; notes: string[]; onClose: () => void }) {
  const w = useWords(libraryWords);
  const common = useWords(commonWords);
  const navigate = useNavigate();
  const open = () => {
    onClose();
    void navigate(pathOf(target.kind, target.id));
  };
  return (
    <Stack gap="sm">
      <Group gap={6} wrap="nowrap" role="status">
        <IconCheck size={18} aria-hidden className={styles.good} />
        <Text fw={600}>{w.loreAdded(added, target.name)}</Text>
      </Group>
      <Notes notes={notes} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {common.close}
        </Button>
        <Button onClick={open}>{w.openIt}</Button>
      </Group>
    </Stack>
  );
}

/** All whose lore it could be; whoever is open in the library is suggested. */
function useTargets(file: File) {
  const w = useWords(libraryWords);
  const { pathname } = useLocation();
  const characters = useCharacters().data ?? [];
  const backgrounds = useBackgrounds().data ?? [];
  const targetsOf = (kind: Kind, presets: readonly { id: string; name: string }[]): Target[] =>
    presets.map(({ id, name }) => ({ kind, id, name }));
  const options = (targets: Target[]) => targets.map((target) => ({ value: keyOf(target), label: target.name }));
  const [people, worlds] = [targetsOf("characters", characters), targetsOf("backgrounds", backgrounds)];
  const targets = [...people, ...worlds];
  const open = targets.find((target) => pathname === pathOf(target.kind, target.id));
  const named = targets.find((target) => target.name === nameOf(file));
  return {
    targets,
    groups: [
      { group: w.characters, items: options(people) },
      { group: w.backgrounds, items: options(worlds) },
    ],
    suggested: open ? keyOf(open) : named ? keyOf(named) : null,
  };
}

const keyOf = (target: Target) => `${target.kind}/${target.id}`;

const nameOf = (file: File) => file.name.replace(/\.\w+$/, "").slice(0, 80) || file.name;

async function newBackground(name: string): Promise<Target> {
  const body = { name, description: "", world_rules: "", initial_context: "", lore: [], extensions: {} };
  const made = await ask(api.POST("/v1/backgrounds", { body }));
  return { kind: "backgrounds", id: made.id, name: made.name };
}
