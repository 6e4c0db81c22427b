import { Group, Text } from "@mantine/core";
import { useMemo } from "react";

import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import { diff } from "./diff";
import css from "./soul.module.css";

const TAGS = { same: "span", added: "ins", removed: "del" } as const;

export function DiffView({ before, after }: { before: string; after: string }) {
  const w = useWords(soulWords);
  const parts = useMemo(() => diff(before, after), [before, after]);
  const isSame = parts.every(({ kind }) => kind === "same");
  return (
    <div>
      <Group gap="xs" mb={4}>
        <Text size="xs" c="dimmed" className={css.legend}>
          {isSame ? (
            w.same
          ) : (
            <>
              <del>{w.removed}</del> <ins>{w.added}</ins>
            </>
          )}
        </Text>
      </Group>
      <div className={css.diff} role="region" aria-label={w.diffLabel} tabIndex={0}>
        {parts.map(({ kind, text }, place) => {
          const Tag = TAGS[kind];
          return <Tag key={place}>{text}</Tag>;
        })}
      </div>
    </div>
  );
}
