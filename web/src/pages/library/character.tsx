/** A character: what it is, its lore and its images. */

import { ActionIcon, Button, Menu, Tabs, Text, Tooltip } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { IconDownload, IconMessageCircle } from "@tabler/icons-react";
import { useState } from "react";

import { useAccess } from "~/access";
import { api, ask, askRaw } from "~/api/client";
import { CharacterAvatar } from "~/parts/character-avatar";
import { Dialog } from "~/parts/dialog";
import { showProblem } from "~/parts/problem";
import { saveFile } from "~/parts/save-file";
import { libraryWords } from "~/words/library";
import { useWords } from "~/words/words";
import { CharacterForm } from "./character-form";
import { type Character, characterBody, characterFields, MOST, profileMistake, writable } from "./fields";
import { CopyButton, DeleteButton, PresetHeader } from "./header";
import { Images } from "./images";
import styles from "./library.module.css";
import { LoreTab } from "./lore";
import { MakeSoulForm } from "./make-soul";
import { useCreate } from "./queries";
import { sizeOf } from "./tokens";
import { type Form, usePreset } from "./use-preset";

const FORM: Form<Character, ReturnType<typeof characterFields>> = {
  kind: "characters",
  fieldsOf: characterFields,
  put: (fields, base) =>
    ask(
      api.PUT("/v1/characters/{character_id}", {
        params: { path: { character_id: base.id } },
        body: writable(characterBody(fields, base)),
      }),
    ),
};

export function CharacterEditor({ character }: { character: Character }) {
  const w = useWords(libraryWords);
  const { isServerOwner } = useAccess();
  const form = usePreset(character, FORM);
  const { fields } = form;
  const size = sizeOf([fields.base_persona, ...fields.style_examples, fields.inner_state, fields.profile]);
  return (
    <section className={`panel ${styles.panel}`} aria-label={character.name}>
      <PresetHeader
        kind="characters"
        preset={character}
        form={form}
        invalid={profileMistake(fields.profile) !== null || !fields.name.trim()}
        mayEdit={isServerOwner}
        picture={<CharacterAvatar character={character} size={48} />}
        note={
          <Tooltip label={w.inPromptsHint} multiline maw={280}>
            <Text size="xs" c="dimmed" component="span">
              {w.inPrompts(size.tokens)}
            </Text>
          </Tooltip>
        }
        actions={<Actions character={character} />}
      />
      <Tabs defaultValue="details" keepMounted={false} className={styles.tabs}>
        <Tabs.List aria-label={w.parts}>
          <Tabs.Tab value="details">{w.details}</Tabs.Tab>
          <Tabs.Tab value="lore">{`${w.lore} · ${character.lore.length}`}</Tabs.Tab>
          <Tabs.Tab value="images">{`${w.images} · ${character.images.length}`}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="details" pt="md">
          <CharacterForm fields={fields} change={form.change} mistakes={form.mistakes} readOnly={!isServerOwner} />
        </Tabs.Panel>
        <Tabs.Panel value="lore" pt="md">
          <LoreTab kind="characters" preset={character} />
        </Tabs.Panel>
        <Tabs.Panel value="images" pt="md">
          <Images character={character} readOnly={!isServerOwner} />
        </Tabs.Panel>
      </Tabs>
    </section>
  );
}

function Actions({ character }: { character: Character }) {
  const w = useWords(libraryWords);
  const access = useAccess();
  const create = useCreate("characters");
  const [making, setMaking] = useState(false);
  const copy = () => {
    const { id: _, revision, created_at, updated_at, images, ...fields } = character;
    create.mutate({ body: { ...fields, name: w.copyOf(character.name).slice(0, MOST.name) }, imagesOf: character });
  };
  return (
    <>
      <ExportMenu character={character} />
      {access.isServerOwner && <CopyButton loading={create.isPending} onClick={copy} />}
      {access.isServerOwner && <DeleteButton kind="characters" preset={character} />}
      {access.isServerOwner && (
        <Button
          size="xs"
          variant="light"
          leftSection={<IconMessageCircle size={16} aria-hidden />}
          onClick={() => setMaking(true)}
        >
          {w.makeSoul}
        </Button>
      )}
      <Dialog opened={making} onClose={() => setMaking(false)} title={w.makeSoulTitle(character.name)}>
        <MakeSoulForm character={character} onMade={() => setMaking(false)} />
      </Dialog>
    </>
  );
}

type CardFormat = keyof (typeof libraryWords)["en"]["cards"];

function ExportMenu({ character }: { character: Character }) {
  const w = useWords(libraryWords);
  const save = useMutation({
    mutationFn: async (card: CardFormat) => {
      const [format, spec] = card.split("-") as ["png" | "json", "v2" | "v3"];
      const path = `v1/characters/${encodeURIComponent(character.id)}/card?format=${format}&spec=${spec}`;
      saveFile(await (await askRaw(path)).blob(), `${character.name}.${format}`);
    },
    onError: showProblem,
  });
  return (
    <Menu>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" aria-label={w.exportCard} title={w.exportCard} loading={save.isPending}>
          <IconDownload size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{w.exportCard}</Menu.Label>
        {Object.entries(w.cards).map(([card, label]) => (
          <Menu.Item key={card} onClick={() => save.mutate(card as CardFormat)}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
