/** Who one talks with, and what can be done with the conversation. */

import { ActionIcon, Button, Menu, Text, Title, Tooltip } from "@mantine/core";
import {
  IconArrowsSplit2,
  IconDots,
  IconDownload,
  IconLayoutSidebar,
  IconPencil,
  IconTrash,
  IconUpload,
  IconUsers,
} from "@tabler/icons-react";

import { openDialog } from "~/pages/chat/dialog-state";
import { useExport, useImport } from "~/pages/chat/files";
import { useFork } from "~/pages/chat/message-actions";
import { ModePicker } from "~/pages/chat/mode-picker";
import { readerOf, type Session } from "~/pages/chat/sessions";
import type { Soul } from "~/pages/chat/scene";
import { SoulFace } from "~/pages/chat/soul-face";
import { useAccess } from "~/access";
import { chatWords } from "~/words/chat";
import { commonWords } from "~/words/common";
import { moodWords } from "~/words/mood";
import { useWords } from "~/words/words";
import c from "./chat.module.css";

interface HeaderProps {
  soul: Soul;
  session: Session | undefined;
  /** Where there is no room for them beside the talk. */
  onConversations: (() => void) | null;
  onMood: (() => void) | null;
}

export function Header({ soul, session, onConversations, onMood }: HeaderProps) {
  const w = useWords(chatWords);
  const mood = useWords(moodWords);
  const { isOwner } = useAccess();
  const mayGrow = isOwner && session !== undefined;
  return (
    <header className={c.header}>
      {onConversations && (
        <ActionIcon variant="subtle" color="gray" size={34} aria-label={w.conversations} onClick={onConversations}>
          <IconLayoutSidebar size={20} aria-hidden />
        </ActionIcon>
      )}
      <div className={c.heading}>
        <Title order={1} size="h4" className={c.name}>
          {soul.name}
        </Title>
        <Text span size="sm" c="dimmed">
          {soul.mbti_type}
        </Text>
        {session && <ModePicker session={session} />}
      </div>
      {mayGrow && !onConversations && <Growth session={session} />}
      {session && <More session={session} withGrowth={mayGrow && onConversations !== null} />}
      {onMood && (
        <Tooltip label={mood.title}>
          <ActionIcon variant="subtle" color="gray" size={34} aria-label={mood.title} onClick={onMood}>
            <SoulFace soulId={soul.soul_id} size={28} />
          </ActionIcon>
        </Tooltip>
      )}
    </header>
  );
}

function Growth({ session }: { session: Session }) {
  const w = useWords(chatWords);
  return (
    <>
      <Button size="xs" variant="default" onClick={() => openDialog({ kind: "memory", session })}>
        🧠 {w.updateMemory}
      </Button>
      <Button size="xs" variant="default" onClick={() => openDialog({ kind: "summarise", session })}>
        {w.summarise}
      </Button>
    </>
  );
}

function More({ session, withGrowth }: { session: Session; withGrowth: boolean }) {
  const w = useWords(chatWords);
  const common = useWords(commonWords);
  const access = useAccess();
  const exporting = useExport();
  const importing = useImport();
  const fork = useFork(session, readerOf(access));
  const busy = exporting.isPending || importing.isPending || fork.isPending;
  return (
    <Menu position="bottom-end" shadow="md">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size={34} aria-label={w.moreOfConversation} loading={busy}>
          <IconDots size={20} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {withGrowth && (
          <>
            <Menu.Item onClick={() => openDialog({ kind: "memory", session })}>🧠 {w.updateMemory}</Menu.Item>
            <Menu.Item onClick={() => openDialog({ kind: "summarise", session })}>{w.summarise}</Menu.Item>
            <Menu.Divider />
          </>
        )}
        <Menu.Item
          leftSection={<IconPencil size={16} aria-hidden />}
          onClick={() => openDialog({ kind: "rename", session })}
        >
          {w.rename}
        </Menu.Item>
        <Menu.Item
          leftSection={<IconUsers size={16} aria-hidden />}
          onClick={() => openDialog({ kind: "people", session })}
        >
          {w.whoIsThere}
        </Menu.Item>
        <Menu.Item leftSection={<IconArrowsSplit2 size={16} aria-hidden />} onClick={() => fork.mutate(null)}>
          {w.forkAll}
        </Menu.Item>
        <Menu.Item leftSection={<IconDownload size={16} aria-hidden />} onClick={() => exporting.mutate(session)}>
          {w.exportJsonl}
        </Menu.Item>
        <Menu.Item leftSection={<IconUpload size={16} aria-hidden />} onClick={importing.choose}>
          {w.importJsonl}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item
          color="var(--bad)"
          leftSection={<IconTrash size={16} aria-hidden />}
          onClick={() => openDialog({ kind: "delete", session })}
        >
          {common.delete}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
