import { Group, Text, Title } from "@mantine/core";

import { useAccess } from "~/access";
import { SoulPicker } from "~/parts/soul-picker";
import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import { SoulActions } from "./actions";
import { PersonPicker } from "./person";
import type { OfSoul } from "./soul";
import css from "./soul.module.css";
import { useWhen } from "./when";

export function Header({ soul }: OfSoul) {
  const w = useWords(soulWords);
  const when = useWhen();
  const access = useAccess();
  return (
    <Group justify="space-between" gap="sm">
      <Group gap="sm" align="baseline">
        <Title order={1} size="h3">
          {soul.name}
        </Title>
        <Text size="sm" c="dimmed">
          {w.facts(soul.mbti_type, soul.turns)} · {w.born(when.day(soul.created_at))}
        </Text>
      </Group>
      <Group gap="xs" className={css.choices}>
        <PersonPicker soulId={soul.soul_id} />
        <SoulPicker />
        {access.isOwner && <SoulActions soul={soul} />}
      </Group>
    </Group>
  );
}
