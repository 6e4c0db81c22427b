/** The avatar of a character, and its face in every emotion. */

import { ActionIcon, Button, FileButton, Group, Loader, Stack, Text, UnstyledButton } from "@mantine/core";
import { IconPhotoPlus, IconX } from "@tabler/icons-react";
import { type DragEvent, useState } from "react";

import { EXPRESSIONS, type ImageName } from "~/parts/expressions";
import { useImage } from "~/parts/images";
import { showProblem } from "~/parts/problem";
import { emotionWords } from "~/words/emotions";
import { libraryWords } from "~/words/library";
import { useWords } from "~/words/words";
import type { Character } from "./fields";
import styles from "./library.module.css";
import { Notes } from "./notes";
import { useImageChange, usePackImport } from "./queries";

const TYPES = ["image/png", "image/jpeg", "image/webp"];
const MEBIBYTE = 1024 * 1024;
const MOST_BYTES = 4 * MEBIBYTE;

export function Images({ character, readOnly }: { character: Character; readOnly: boolean }) {
  const w = useWords(libraryWords);
  const names: ImageName[] = ["avatar", ...EXPRESSIONS];
  const shown = readOnly ? names.filter((name) => character.images.includes(name)) : names;
  return (
    <>
      <Text size="sm" c="dimmed" mb="sm">
        {readOnly ? (shown.length === 0 ? w.noneYet : "") : w.imagesHint}
      </Text>
      {!readOnly && <ImportPack character={character} />}
      <ul className={styles.images} aria-label={w.images}>
        {shown.map((name) => (
          <ImageField key={name} character={character} name={name} readOnly={readOnly} />
        ))}
      </ul>
    </>
  );
}

/** Takes an expression pack: an archive of pictures that are named for what they show. */
function ImportPack({ character }: { character: Character }) {
  const w = useWords(libraryWords);
  const pack = usePackImport(character.id);
  return (
    <Stack gap="xs" mb="sm" align="flex-start">
      <FileButton accept=".zip,application/zip" onChange={(file) => file && pack.mutate(file)}>
        {(props) => (
          <Button {...props} variant="default" size="xs" loading={pack.isPending}>
            {w.importPack}
          </Button>
        )}
      </FileButton>
      {pack.data && <Notes notes={pack.data.notes} />}
    </Stack>
  );
}

const titled = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

function ImageField({ character, name, readOnly }: { character: Character; name: ImageName; readOnly: boolean }) {
  const w = useWords(libraryWords);
  const emotions = useWords(emotionWords);
  const label = name === "avatar" ? w.avatar : titled(emotions[name]);
  const there = character.images.includes(name);
  const address = useImage(character.id, there ? name : null);
  const change = useImageChange(character.id);
  const [over, setOver] = useState(false);
  const store = (file: File | null | undefined) => {
    if (!file || change.isPending) return;
    if (!TYPES.includes(file.type)) return showProblem(w.wrongType(file.name));
    if (file.size > MOST_BYTES) return showProblem(w.imageTooLarge(file.name, (file.size / MEBIBYTE).toFixed(1)));
    change.mutate({ name, file });
  };
  const drop = (event: DragEvent) => {
    setOver(false);
    if (readOnly) return;
    event.preventDefault();
    store(event.dataTransfer.files[0]);
  };
  const picture = address ? <img src={address} alt={w.imageOf(character.name, label)} /> : <IconPhotoPlus size={26} aria-hidden />;
  return (
    <li
      className={styles.image}
      data-takes-files={readOnly ? undefined : true}
      data-over={over || undefined}
      onDragOver={() => setOver(!readOnly)}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      {readOnly ? (
        <span className={styles.picture}>{picture}</span>
      ) : (
        <FileButton accept={TYPES.join(",")} onChange={store}>
          {(props) => (
            <UnstyledButton {...props} className={styles.picture} aria-label={w.upload(label)}>
              {change.isPending ? <Loader size="sm" /> : picture}
            </UnstyledButton>
          )}
        </FileButton>
      )}
      <Group gap={4} justify="space-between" wrap="nowrap" mih={26}>
        <Text size="xs" truncate>
          {label}
        </Text>
        {there && !readOnly && (
          <ActionIcon
            size="sm"
            variant="subtle"
            color="red"
            aria-label={w.deleteImage(label)}
            onClick={() => change.mutate({ name, file: null })}
          >
            <IconX size={14} aria-hidden />
          </ActionIcon>
        )}
      </Group>
    </li>
  );
}
