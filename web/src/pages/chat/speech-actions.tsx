/** The small buttons beside a message. */

import { ActionIcon, Menu, Tooltip } from "@mantine/core";
import {
  IconArrowsSplit2,
  IconBulb,
  IconCopy,
  IconDots,
  IconPencil,
  IconRefresh,
  IconTrash,
} from "@tabler/icons-react";
import type { ReactNode } from "react";

import { openDialog } from "~/pages/chat/dialog-state";
import { isMine, replaceMessage, useFork } from "~/pages/chat/message-actions";
import type { SpeechRow } from "~/pages/chat/rows";
import { type Scene, useScene } from "~/pages/chat/scene";
import { editMessage, toggleWhy, useTalk } from "~/pages/chat/talk-state";
import type { Message } from "~/pages/chat/transcript";
import { showDone } from "~/parts/problem";
import { chatWords } from "~/words/chat";
import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";
import c from "./chat.module.css";

export function SpeechActions({ row, whyId, isLast }: { row: SpeechRow; whyId: string; isLast: boolean }) {
  const w = useWords(chatWords);
  const scene = useScene();
  const open = useTalk((state) => state.explained === row.key);
  const { message, asked } = row;
  if (!message) return null;
  const isReply = row.role === "assistant";
  return (
    <span className={c.actions}>
      {isReply && (
        <SmallButton
          label={open ? w.whyClose : w.why}
          expanded={open}
          controls={whyId}
          onClick={() => toggleWhy(row.key)}
          icon={<IconBulb size={15} aria-hidden />}
          isWhy
        />
      )}
      {isReply && asked && isMine(asked, scene) && (
        <SmallButton
          label={w.regenerate}
          onClick={() => regenerate(asked, scene, isLast)}
          icon={<IconRefresh size={15} aria-hidden />}
        />
      )}
      {!isReply && isMine(message, scene) && (
        <SmallButton
          label={w.editMessage}
          onClick={() => editMessage(message.message_id, message.content)}
          icon={<IconPencil size={15} aria-hidden />}
        />
      )}
      <More row={row} message={message} />
    </span>
  );
}

/** What was said after it would be gone: then it is asked about first. */
function regenerate(asked: Message, scene: Scene, isLast: boolean): void {
  if (isLast) replaceMessage(asked, scene);
  else openDialog({ kind: "regenerate", asked, scene });
}

interface SmallButtonProps {
  label: string;
  icon: ReactNode;
  onClick: () => void;
  expanded?: boolean;
  controls?: string;
  /** Where the focus is when the reasons are closed. */
  isWhy?: boolean;
}

function SmallButton({ label, icon, onClick, expanded, controls, isWhy }: SmallButtonProps) {
  return (
    <Tooltip label={label} openDelay={400}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={26}
        aria-label={label}
        aria-expanded={expanded}
        aria-controls={expanded ? controls : undefined}
        data-why={isWhy}
        onClick={onClick}
      >
        {icon}
      </ActionIcon>
    </Tooltip>
  );
}

function More({ row, message }: { row: SpeechRow; message: Message }) {
  const w = useWords(chatWords);
  const common = useWords(commonWords);
  const scene = useScene();
  const fork = useFork(scene.session, scene.reader);
  const mine = isMine(message, scene);
  const copy = () => void navigator.clipboard.writeText(message.content).then(() => showDone(common.copied));
  return (
    <Menu position="bottom-end" withinPortal shadow="md">
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size={26} aria-label={w.moreAbout} loading={fork.isPending}>
          <IconDots size={15} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {"clipboard" in navigator && (
          <Menu.Item leftSection={<IconCopy size={15} aria-hidden />} onClick={copy}>
            {common.copy}
          </Menu.Item>
        )}
        {mine && row.role === "assistant" && (
          <Menu.Item
            leftSection={<IconPencil size={15} aria-hidden />}
            onClick={() => editMessage(message.message_id, message.content)}
          >
            {w.correct}
          </Menu.Item>
        )}
        <Menu.Item leftSection={<IconArrowsSplit2 size={15} aria-hidden />} onClick={() => fork.mutate(message)}>
          {w.forkHere}
        </Menu.Item>
        {mine && (
          <Menu.Item
            color="var(--bad)"
            leftSection={<IconTrash size={15} aria-hidden />}
            onClick={() => openDialog({ kind: "delete-message", message, scene })}
          >
            {common.delete}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
