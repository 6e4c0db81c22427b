import { Center, Text, Title } from "@mantine/core";
import { useParams } from "react-router";

import { libraryWords } from "~/words/library";
import { useWords } from "~/words/words";
import { BackgroundEditor } from "./background";
import { CharacterEditor } from "./character";
import type { Kind } from "./fields";
import styles from "./library.module.css";
import { PresetList } from "./list";
import { useBackgrounds, useCharacters } from "./queries";

export default function Library() {
  const w = useWords(libraryWords);
  const { kind: wanted, presetId } = useParams();
  const kind: Kind = wanted === "backgrounds" ? "backgrounds" : "characters";
  return (
    <div className={styles.page} data-open={presetId !== undefined || undefined}>
      <Title order={1} className="visually-hidden">
        {w.title}
      </Title>
      <PresetList kind={kind} chosen={presetId} />
      {presetId === undefined ? (
        <Center className={styles.hint}>
          <Text c="dimmed">{w.choose}</Text>
        </Center>
      ) : (
        <Opened kind={kind} presetId={presetId} />
      )}
    </div>
  );
}

function Opened({ kind, presetId }: { kind: Kind; presetId: string }) {
  const w = useWords(libraryWords);
  const characters = useCharacters();
  const backgrounds = useBackgrounds();
  const character = characters.data?.find((one) => one.id === presetId);
  const background = backgrounds.data?.find((one) => one.id === presetId);
  if (kind === "characters" && character) return <CharacterEditor key={character.id} character={character} />;
  if (kind === "backgrounds" && background) return <BackgroundEditor key={background.id} background={background} />;
  const known = kind === "characters" ? characters.data : backgrounds.data;
  return <Center>{known && <Text c="dimmed">{w.missing}</Text>}</Center>;
}
