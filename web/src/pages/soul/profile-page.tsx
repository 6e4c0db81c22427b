/** What a soul lives with now, field by field, and what has been retired of it. */

import { Badge, Button, Group, Stack, Text, Tooltip } from "@mantine/core";
import { IconSparkles } from "@tabler/icons-react";

import { useAccess } from "~/access";
import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import { fieldsOf, type Profile, type Retired, textOf } from "./profile";
import { ProfileField } from "./profile-field";
import { Empty, Read, Section } from "./section";
import type { OfSoul } from "./soul";
import css from "./soul.module.css";
import { useMaintainProfile, useProfile } from "./use-profile";
import { useWhen } from "./when";

export function ProfilePage({ soul }: OfSoul) {
  const w = useWords(soulWords);
  const { isOwner } = useAccess();
  const profile = useProfile(soul.soul_id);
  const { maintain } = useMaintainProfile(soul.soul_id);
  return (
    <Stack gap={14}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" c="dimmed" style={{ flex: "1 1 260px" }}>
          {w.profileText} {isOwner && w.profileHint}
        </Text>
        {isOwner && (
          <Tooltip label={w.maintainHint} multiline w={260}>
            <Button
              size="xs"
              variant="light"
              leftSection={<IconSparkles size={16} aria-hidden />}
              loading={maintain.isPending}
              onClick={() => maintain.mutate()}
            >
              {w.maintain}
            </Button>
          </Tooltip>
        )}
      </Group>
      <Read query={profile}>{(data) => <Fields soulId={soul.soul_id} profile={data} />}</Read>
    </Stack>
  );
}

function Fields({ soulId, profile }: { soulId: string; profile: Profile }) {
  const { isOwner } = useAccess();
  return (
    <div className={`${css.columns} ${css.even}`}>
      {fieldsOf(profile.dynamic_state).map((field) => (
        <ProfileField key={field} soulId={soulId} field={field} items={profile.dynamic_state[field]?.items ?? []} />
      ))}
      {isOwner && <RetiredItems soulId={soulId} retired={profile.retired} />}
    </div>
  );
}

function RetiredItems({ soulId, retired }: { soulId: string; retired: Retired[] }) {
  const w = useWords(soulWords);
  const when = useWhen();
  const { restore } = useMaintainProfile(soulId);
  return (
    <Section title={w.retired}>
      {retired.length === 0 && <Empty>{w.retiredNone}</Empty>}
      <ul className={css.plain}>
        {retired.map(({ id, field, item, retired_at }) => (
          <li key={id} className={css.row}>
            <div className={css.grow}>
              <Text size="sm">{textOf(item)}</Text>
              <Group gap={6}>
                <Badge size="xs" variant="default" tt="none">
                  {w.field[field] ?? field}
                </Badge>
                <Text size="xs" c="dimmed">
                  {w.retiredAt(when.time(retired_at))}
                </Text>
              </Group>
            </div>
            <Button
              size="compact-xs"
              variant="light"
              aria-label={w.bringBackNamed(textOf(item))}
              loading={restore.isPending && restore.variables === id}
              onClick={() => restore.mutate(id)}
            >
              {w.bringBack}
            </Button>
          </li>
        ))}
      </ul>
    </Section>
  );
}
