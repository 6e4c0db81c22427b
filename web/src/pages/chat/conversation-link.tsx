import { ActionIcon, Menu } from "@mantine/core";
import { IconArrowBackUp, IconDots, IconPencil, IconTrash } from "@tabler/icons-react";
import { Link } from "react-router";

import { useAccess } from "~/access";
import { openDialog } from "~/pages/chat/dialog-state";
import { isGroup, peopleOf, type Session, soulsOf } from "~/pages/chat/sessions";
import { momentOf } from "~/pages/chat/times";
import { useSouls } from "~/parts/soul-picker";
import { usePreferences } from "~/preferences";
import { chatWords } from "~/words/chat";
import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";
import c from "./chat.module.css";

interface LinkProps {
  session: Session;
  current: boolean;
  unread: boolean;
  onChosen?: () => void;
}

export function ConversationLink({ session, current, unread, onChosen }: LinkProps) {
  const w = useWords(chatWords);
  const lang = usePreferences((state) => state.lang);
  const title = session.title || w.untitled;
  return (
    <div className={c.conversation} data-current={current || undefined}>
      <Link
        to={`/chat/${encodeURIComponent(session.session_id)}`}
        aria-current={current ? "page" : undefined}
        title={`${title} · ${momentOf(Date.parse(session.updated_at), lang)}`}
        onClick={onChosen}
      >
        <span className={c.conversationTitle}>
          {unread && <span className={c.unread} role="img" aria-label={w.news} />}
          {session.continued_from && <IconArrowBackUp size={13} aria-label={w.continued} />}
          <span>{title}</span>
          <span className={c.count} aria-label={w.turns(session.turn)}>
            {session.turn}
          </span>
        </span>
        {isGroup(session) && <GroupNames session={session} />}
      </Link>
      <SessionMenu session={session} title={title} />
    </div>
  );
}

function GroupNames({ session }: { session: Session }) {
  const w = useWords(chatWords);
  const { userId } = useAccess();
  const souls = useSouls().data ?? [];
  const names = [
    ...peopleOf(session).map((person) => (person === userId ? w.you : person)),
    ...soulsOf(session).map((id) => souls.find((soul) => soul.soul_id === id)?.name ?? id),
  ];
  return <span className={c.groupNames}>{names.join(" · ")}</span>;
}

function SessionMenu({ session, title }: { session: Session; title: string }) {
  const w = useWords(chatWords);
  const common = useWords(commonWords);
  return (
    <Menu position="bottom-end" shadow="md">
      <Menu.Target>
        <ActionIcon
          className={c.conversationMenu}
          variant="subtle"
          color="gray"
          size={24}
          aria-label={w.moreOf(title)}
        >
          <IconDots size={15} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<IconPencil size={15} aria-hidden />}
          onClick={() => openDialog({ kind: "rename", session })}
        >
          {w.rename}
        </Menu.Item>
        <Menu.Item
          color="var(--bad)"
          leftSection={<IconTrash size={15} aria-hidden />}
          onClick={() => openDialog({ kind: "delete", session })}
        >
          {common.delete}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
