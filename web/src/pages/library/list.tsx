/** What the library has, by kind and name. */

import { Button, Center, FileButton, Group, SegmentedControl, Skeleton, Text, TextInput, Tooltip } from "@mantine/core";
import { useVirtualizer } from "@tanstack/react-virtual";
import { IconFileImport, IconPlus, IconSearch, IconWorld } from "@tabler/icons-react";
import { useRef, useState } from "react";
import { Link, useNavigate } from "react-router";

import { useAccess } from "~/access";
import { CharacterAvatar } from "~/parts/character-avatar";
import { ProblemNote } from "~/parts/problem";
import { VirtualRows } from "~/parts/virtual-rows";
import { commonWords } from "~/words/common";
import { libraryWords } from "~/words/library";
import { useWords } from "~/words/words";
import { type Background, type Character, isSummary, type Kind } from "./fields";
import { importFiles } from "./import-jobs";
import styles from "./library.module.css";
import { pathOf, type Preset, useBackgrounds, useCharacters, useCreate } from "./queries";

const ROW = 56;

export function PresetList({ kind, chosen }: { kind: Kind; chosen: string | undefined }) {
  const w = useWords(libraryWords);
  const common = useWords(commonWords);
  const navigate = useNavigate();
  const characters = useCharacters();
  const backgrounds = useBackgrounds();
  const query = kind === "characters" ? characters : backgrounds;
  const [search, setSearch] = useState("");
  const presets: Preset[] = query.data ?? [];
  const wanted = search.trim().toLowerCase();
  const found = presets.filter((one) => one.name.toLowerCase().includes(wanted));
  return (
    <nav className={styles.list} aria-label={w.list}>
      <SegmentedControl
        aria-label={w.kinds}
        fullWidth
        size="xs"
        data={[
          { value: "characters", label: w.characters },
          { value: "backgrounds", label: w.backgrounds },
        ]}
        value={kind}
        onChange={(next) => void navigate(pathOf(next as Kind))}
      />
      <MakeButtons kind={kind} />
      {presets.length > 8 && (
        <TextInput
          aria-label={common.search}
          placeholder={common.search}
          size="xs"
          leftSection={<IconSearch size={14} aria-hidden />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
      )}
      {query.isPending && <Skeleton h={200} role="img" aria-label={common.loading} />}
      {query.error && <ProblemNote problem={query.error} onRetry={() => void query.refetch()} />}
      {query.data && found.length === 0 && (
        <Center p="md">
          <Text size="sm" c="dimmed" ta="center">
            {wanted ? w.nothingFound : kind === "characters" ? w.noCharacters : w.noBackgrounds}
          </Text>
        </Center>
      )}
      <Rows kind={kind} presets={found} chosen={chosen} />
    </nav>
  );
}

function Rows({ kind, presets, chosen }: { kind: Kind; presets: Preset[]; chosen: string | undefined }) {
  const w = useWords(libraryWords);
  const box = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: presets.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: 8,
    getItemKey: (at) => presets[at]?.id ?? at,
  });
  return (
    <div ref={box} className={styles.rows}>
      <VirtualRows virtual={rows} role="list" row={() => ({ className: styles.row, role: "listitem" })}>
        {(at) => {
          const preset = presets[at];
          return preset && (
            <Link to={pathOf(kind, preset.id)} className={styles.link} aria-current={preset.id === chosen ? "page" : undefined}>
              <Picture kind={kind} preset={preset} />
              <span className={styles.names}>
                <Text size="sm" truncate>
                  {preset.name}
                </Text>
                <Text size="xs" c="dimmed" truncate>
                  {isSummary(preset) ? w.summary : preset.description}
                </Text>
              </span>
            </Link>
          );
        }}
      </VirtualRows>
    </div>
  );
}

function Picture({ kind, preset }: { kind: Kind; preset: Preset }) {
  if (kind === "characters") return <CharacterAvatar character={preset as Character} />;
  return (
    <span className={styles.world}>
      <IconWorld size={20} aria-hidden />
    </span>
  );
}

function MakeButtons({ kind }: { kind: Kind }) {
  const w = useWords(libraryWords);
  const { isServerOwner } = useAccess();
  const create = useCreate(kind);
  if (!isServerOwner) return null;
  const made = { name: kind === "characters" ? w.unnamedCharacter : w.unnamedBackground };
  return (
    <Group gap="xs" grow preventGrowOverflow={false}>
      <Button
        size="xs"
        variant="light"
        leftSection={<IconPlus size={14} aria-hidden />}
        loading={create.isPending}
        // The server fills in the rest.
        onClick={() => create.mutate({ body: made as Character | Background })}
      >
        {kind === "characters" ? w.newCharacter : w.newBackground}
      </Button>
      <FileButton accept=".png,.json,.charx,.webp,.jpg,.jpeg,.yaml,.yml" multiple onChange={(files) => importFiles(files)}>
        {(props) => (
          <Tooltip label={w.importHint} multiline maw={260}>
            <Button {...props} size="xs" variant="default" leftSection={<IconFileImport size={14} aria-hidden />}>
              {w.importFile}
            </Button>
          </Tooltip>
        )}
      </FileButton>
    </Group>
  );
}
