/** The head of a preset: its name, whether it is saved, and what can be done with it. */

import { ActionIcon, Button, Group, Text, Title, Tooltip } from "@mantine/core";
import { useHotkeys } from "@mantine/hooks";
import { IconArrowLeft, IconCopy, IconTrash } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { Link } from "react-router";

import { ConfirmButton } from "~/parts/confirm";
import { ChangedElsewhere, Conflict, Unsaved } from "~/parts/conflict";
import { LeaveGuard } from "~/parts/leave";
import { commonWords } from "~/words/common";
import { libraryWords } from "~/words/library";
import { useWords } from "~/words/words";
import type { Kind } from "./fields";
import styles from "./library.module.css";
import { pathOf, useDelete } from "./queries";
import type { PresetForm } from "./use-preset";

interface HeaderProps {
  kind: Kind;
  preset: { id: string; name: string };
  form: PresetForm;
  /** A mistake that must be corrected first. */
  invalid: boolean;
  mayEdit: boolean;
  note?: ReactNode;
  picture?: ReactNode;
  actions?: ReactNode;
}

export function PresetHeader({ kind, preset, form, invalid, mayEdit, note, picture, actions }: HeaderProps) {
  const w = useWords(libraryWords);
  return (
    <header className={styles.header}>
      <LeaveGuard unsaved={form.unsaved} />
      <Conflict editing={form} />
      <Group gap="sm" wrap="nowrap">
        <ActionIcon
          component={Link}
          to={pathOf(kind)}
          variant="subtle"
          color="gray"
          className={styles.back}
          aria-label={kind === "characters" ? w.characters : w.backgrounds}
        >
          <IconArrowLeft size={20} aria-hidden />
        </ActionIcon>
        {picture}
        <div style={{ minWidth: 0 }}>
          <Title order={2} size="h4" className={styles.ellipsis}>
            {preset.name}
          </Title>
          {note}
          {!mayEdit && (
            <Text size="xs" c="dimmed">
              {w.readOnly}
            </Text>
          )}
          <ChangedElsewhere shown={form.changedElsewhere} />
        </div>
      </Group>
      <Group gap="xs" className={styles.actions}>
        {mayEdit && <SaveButtons form={form} invalid={invalid} />}
        {actions}
      </Group>
    </header>
  );
}

function SaveButtons({ form, invalid }: Pick<HeaderProps, "form" | "invalid">) {
  const common = useWords(commonWords);
  const save = () => form.unsaved && !invalid && !form.saving.isPending && form.save();
  useHotkeys([["mod+S", save]], []);
  return (
    <>
      <Unsaved editing={form} />
      <Button size="xs" onClick={save} loading={form.saving.isPending} disabled={!form.unsaved || invalid}>
        {common.save}
      </Button>
    </>
  );
}

export function CopyButton({ loading, onClick }: { loading: boolean; onClick: () => void }) {
  const w = useWords(libraryWords);
  return (
    <Tooltip label={w.copyIt}>
      <ActionIcon variant="subtle" color="gray" aria-label={w.copyIt} loading={loading} onClick={onClick}>
        <IconCopy size={18} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}

export function DeleteButton({ kind, preset }: Pick<HeaderProps, "kind" | "preset">) {
  const w = useWords(libraryWords);
  const remove = useDelete(kind, preset.id);
  const question = kind === "characters" ? w.deleteCharacter(preset.name) : w.deleteBackground(preset.name);
  return (
    <ConfirmButton question={question} onConfirm={() => remove.mutate()} loading={remove.isPending} aria-label={w.deleteIt} px={8}>
      <IconTrash size={16} aria-hidden />
    </ConfirmButton>
  );
}
