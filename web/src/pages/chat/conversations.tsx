/** The conversations with a soul: choose, search, begin, rename and delete them. */

import { ActionIcon, Button, Group, Loader, Text, TextInput, Title, Tooltip } from "@mantine/core";
import { IconPlus, IconSearch, IconUserPlus } from "@tabler/icons-react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState } from "react";

import { useAccess } from "~/access";
import { ConversationLink } from "~/pages/chat/conversation-link";
import { openDialog } from "~/pages/chat/dialog-state";
import { useUnread } from "~/pages/chat/notices";
import { PersonPicker } from "~/pages/chat/person-picker";
import { FEW, MANY, type Session, useSessions } from "~/pages/chat/sessions";
import { ChatSoulPicker } from "~/pages/chat/chat-soul-picker";
import { ProblemNote } from "~/parts/problem";
import { VirtualRows } from "~/parts/virtual-rows";
import { chatWords } from "~/words/chat";
import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";
import c from "./chat.module.css";

interface ConversationsProps {
  soulId: string;
  current: string | undefined;
  /** Told when one was chosen: a drawer closes then. */
  onChosen?: () => void;
}

/** A search is of use when the list is longer than a glance. */
const WORTH_SEARCHING = 8;

export function Conversations({ soulId, current, onChosen }: ConversationsProps) {
  const w = useWords(chatWords);
  const common = useWords(commonWords);
  const access = useAccess();
  const [search, setSearch] = useState("");
  const [more, setMore] = useState(false);
  const few = useSessions(soulId);
  const many = useSessions(more || search ? soulId : undefined, MANY);
  const sessions = many.data ? many : few;
  const begin = () => {
    onChosen?.();
    openDialog({ kind: "new-conversation", soulId });
  };
  return (
    <>
      <Group gap={6} wrap="nowrap">
        <ChatSoulPicker soulId={soulId} />
        {access.isServerOwner && (
          <Tooltip label={common.newSoul}>
            <ActionIcon
              variant="default"
              size={36}
              aria-label={common.newSoul}
              onClick={() => openDialog({ kind: "new-soul" })}
            >
              <IconUserPlus size={18} aria-hidden />
            </ActionIcon>
          </Tooltip>
        )}
      </Group>
      {access.actsForAnybody && <PersonPicker soulId={soulId} />}
      <Button size="sm" variant="default" leftSection={<IconPlus size={16} aria-hidden />} onClick={begin}>
        {w.newConversation}
      </Button>
      <Title order={2} className={c.sideTitle}>
        {w.conversations}
      </Title>
      {(sessions.data?.length ?? 0) > WORTH_SEARCHING && (
        <TextInput
          size="xs"
          type="search"
          aria-label={w.searchConversations}
          placeholder={common.search}
          leftSection={<IconSearch size={14} aria-hidden />}
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
      )}
      {sessions.isPending && <Loader size="sm" role="img" aria-label={common.loading} />}
      {sessions.error && <ProblemNote problem={sessions.error} onRetry={() => void sessions.refetch()} />}
      {sessions.data && <List sessions={sessions.data} search={search} current={current} onChosen={onChosen} />}
      {sessions === few && sessions.data?.length === FEW && (
        <Button size="xs" variant="subtle" color="gray" loading={many.isFetching} onClick={() => setMore(true)}>
          {w.olderConversations}
        </Button>
      )}
    </>
  );
}

interface ListProps {
  sessions: Session[];
  search: string;
  current: string | undefined;
  onChosen?: () => void;
}

function List({ sessions, search, current, onChosen }: ListProps) {
  const w = useWords(chatWords);
  const box = useRef<HTMLDivElement>(null);
  const unread = useUnread(current);
  const wanted = search.trim().toLowerCase();
  const shown = wanted ? sessions.filter((one) => (one.title || w.untitled).toLowerCase().includes(wanted)) : sessions;
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => box.current,
    estimateSize: () => 38,
    getItemKey: (index) => shown[index]?.session_id ?? index,
    overscan: 10,
  });
  const place = shown.findIndex((one) => one.session_id === current);
  useEffect(() => {
    if (place >= 0) virtual.scrollToIndex(place, { align: "auto" });
  }, [current, place >= 0]);
  return (
    <nav className={c.sideList} ref={box} aria-label={w.conversations}>
      {!shown.length && (
        <Text size="sm" c="dimmed">
          {wanted ? w.noSuchConversation : w.noConversations}
        </Text>
      )}
      <VirtualRows virtual={virtual} row={() => ({ className: c.sideRow })}>
        {(index) => {
          const session = shown[index];
          return session && (
            <ConversationLink
              session={session}
              current={session.session_id === current}
              unread={unread.has(session.session_id)}
              onChosen={onChosen}
            />
          );
        }}
      </VirtualRows>
    </nav>
  );
}
