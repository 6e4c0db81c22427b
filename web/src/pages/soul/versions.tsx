/** Versions of a text: which there are, what is different between any two, and back to one of them. */

import { Badge, Group, ScrollArea, Select, Stack, Text } from "@mantine/core";
import { useState } from "react";

import { useAccess } from "~/access";
import { ConfirmButton } from "~/parts/confirm";
import { commonWords } from "~/words/common";
import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import { DiffView } from "./diff-view";
import { Empty } from "./section";
import css from "./soul.module.css";
import { useSourceText } from "./source";
import { useWhen } from "./when";

export interface Version {
  n: number;
  text: string;
  source: string;
  created_at: string | null;
}

interface VersionsProps {
  /** The newest first. */
  versions: Version[];
  none: string;
  onRestore: (n: number) => void;
  restoring: boolean;
}

export function Versions({ versions, none, onRestore, restoring }: VersionsProps) {
  const w = useWords(soulWords);
  if (versions.length === 0) return <Empty>{none}</Empty>;
  return (
    <div className={css.wide}>
      <Compare versions={versions} />
      <ScrollArea.Autosize mah={420} viewportProps={{ tabIndex: 0, role: "group", "aria-label": w.versions }}>
        <ol className={css.plain} reversed>
          {versions.map((version, place) => (
            <OneVersion
              key={version.n}
              version={version}
              isCurrent={place === 0}
              onRestore={() => onRestore(version.n)}
              restoring={restoring}
            />
          ))}
        </ol>
      </ScrollArea.Autosize>
    </div>
  );
}

/** Two chosen versions side by side; the last two unless others are chosen. */
function Compare({ versions }: { versions: Version[] }) {
  const w = useWords(soulWords);
  const [from, setFrom] = useState<string | null>(null);
  const [to, setTo] = useState<string | null>(null);
  const data = versions.map(({ n }) => ({ value: String(n), label: n === 0 ? w.versionZero : w.version(n) }));
  const find = (n: string | null) => versions.find((version) => String(version.n) === n);
  const young = find(to) ?? versions[0]!;
  const old = find(from) ?? versions[1] ?? young;
  return (
    <Stack gap="xs">
      <Group gap="xs" grow>
        <Select label={w.from} size="xs" data={data} value={String(old.n)} onChange={setFrom} allowDeselect={false} />
        <Select label={w.to} size="xs" data={data} value={String(young.n)} onChange={setTo} allowDeselect={false} />
      </Group>
      <DiffView before={old.text} after={young.text} />
    </Stack>
  );
}

interface OneProps {
  version: Version;
  isCurrent: boolean;
  restoring: boolean;
  onRestore: () => void;
}

function OneVersion({ version, isCurrent, restoring, onRestore }: OneProps) {
  const w = useWords(soulWords);
  const common = useWords(commonWords);
  const when = useWhen();
  const sourceText = useSourceText();
  const { isOwner } = useAccess();
  const { n, source, created_at: at } = version;
  return (
    <li className={css.row} data-chosen={isCurrent || undefined}>
      <div className={css.grow}>
        <Group gap={6}>
          <Text size="sm" fw={600}>
            {n === 0 ? w.versionZero : w.version(n)}
          </Text>
          {isCurrent && (
            <Badge size="xs" variant="light" tt="none">
              {w.isCurrent}
            </Badge>
          )}
        </Group>
        <Text size="xs" c="dimmed">
          {[source && sourceText(source), at && when.time(at)].filter(Boolean).join(" · ")}
        </Text>
      </div>
      {isOwner && !isCurrent && (
        <ConfirmButton
          size="compact-xs"
          color="soul"
          variant="light"
          question={w.restoreAsk(n)}
          aria-label={w.restoreVersion(n)}
          loading={restoring}
          onConfirm={onRestore}
        >
          {common.restore}
        </ConfirmButton>
      )}
    </li>
  );
}
