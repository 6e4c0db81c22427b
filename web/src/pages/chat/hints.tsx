/** What is worth knowing before one goes on: changes from elsewhere, and that memory should be updated. */

import { Button, CloseButton, Group, Text } from "@mantine/core";
import { IconBrain, IconGitBranch, IconMessageCircleHeart, IconMoodSmile } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { Link } from "react-router";

import { openDialog } from "~/pages/chat/dialog-state";
import { useElsewhere } from "~/pages/chat/notices";
import { type Scene, useScene } from "~/pages/chat/scene";
import { useSessions } from "~/pages/chat/sessions";
import { chatWords } from "~/words/chat";
import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";
import c from "./chat.module.css";

export function Hints() {
  const scene = useScene();
  return (
    <div role="status" aria-live="polite">
      <Elsewhere scene={scene} />
      <MemoryHint scene={scene} />
    </div>
  );
}

function Hint({ icon, children }: { icon: ReactNode; children: ReactNode }) {
  return (
    <Group className={c.hint} gap="sm" wrap="nowrap">
      {icon}
      {children}
    </Group>
  );
}

function Elsewhere({ scene: { soul, session } }: { scene: Scene }) {
  const w = useWords(chatWords);
  const common = useWords(commonWords);
  const sessions = useSessions(soul.soul_id).data;
  const { news, dismiss } = useElsewhere(soul.soul_id, session.session_id);
  const last = news.at(-1);
  if (!last) return null;
  const there = sessions?.find((one) => one.session_id === last.sessionId);
  const { icon: Icon, say } = {
    proactive: { icon: IconMessageCircleHeart, say: w.saidElsewhere },
    state_changed: { icon: IconGitBranch, say: w.changedElsewhere },
    mood: { icon: IconMoodSmile, say: w.moodElsewhere },
  }[last.event];
  return (
    <Hint icon={<Icon size={18} aria-hidden />}>
      <Text size="sm" style={{ flex: 1, minWidth: 0 }}>
        {say(soul.name)}{" "}
        {there && <Link to={`/chat/${encodeURIComponent(there.session_id)}`}>{there.title || w.untitled}</Link>}
      </Text>
      <CloseButton size="sm" aria-label={common.close} onClick={dismiss} />
    </Hint>
  );
}

function MemoryHint({ scene: { session, access, soul } }: { scene: Scene }) {
  const w = useWords(chatWords);
  if (!session.memory_update_suggested) return null;
  return (
    <Hint icon={<IconBrain size={18} aria-hidden />}>
      <Text size="sm" style={{ flex: 1, minWidth: 0 }}>
        {w.memorySuggested(soul.name)} {session.memory_update_reason}
      </Text>
      {access.isOwner && (
        <Button size="compact-sm" variant="light" onClick={() => openDialog({ kind: "memory", session })}>
          {w.updateMemory}
        </Button>
      )}
    </Hint>
  );
}
