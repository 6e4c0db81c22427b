/** The middle of the page: who one talks with, what was said, and a place to say more. */

import { Center, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";

import { useAccess } from "~/access";
import { api, ask } from "~/api/client";
import { keys, queryClient } from "~/api/queries";
import { say, useLive } from "~/live/live";
import { Composer } from "~/pages/chat/composer";
import { firstDraft } from "~/pages/chat/drafts";
import { Header } from "~/pages/chat/header";
import { Hints } from "~/pages/chat/hints";
import { Origin } from "~/pages/chat/origin";
import { RolePickers, type Roles, type RoleChoice, useRoles } from "~/pages/chat/roles";
import { SceneProvider, type Soul, useNewScene } from "~/pages/chat/scene";
import type { Session } from "~/pages/chat/sessions";
import { SoulFace } from "~/pages/chat/soul-face";
import { TranscriptView } from "~/pages/chat/transcript-view";
import { showProblem } from "~/parts/problem";
import { chatWords } from "~/words/chat";
import { useWords } from "~/words/words";
import c from "./chat.module.css";

interface TalkProps {
  soul: Soul;
  session: Session | undefined;
  onConversations: (() => void) | null;
  onMood: (() => void) | null;
}

export function Talk({ soul, session, ...drawers }: TalkProps) {
  const w = useWords(chatWords);
  const scene = useNewScene(soul, session);
  const [choice, setChoice] = useState<RoleChoice>({});
  const roles = useRoles(soul, session, choice);
  const send = useSend(soul, session, roles);
  return (
    <section className={`panel ${c.talk}`} aria-label={w.talk(soul.name)}>
      <Header soul={soul} session={session} {...drawers} />
      {scene ? (
        <SceneProvider value={scene}>
          <Origin />
          <Hints />
          <TranscriptView />
          <Answering sessionId={scene.session.session_id} name={soul.name} />
        </SceneProvider>
      ) : (
        <NothingYet soul={soul} />
      )}
      <Composer
        place={session?.session_id ?? firstDraft(soul.soul_id)}
        soulName={soul.name}
        sessionId={session?.session_id}
        onSend={send}
        roles={
          <RolePickers session={session} roles={roles} onChange={(part) => setChoice((now) => ({ ...now, ...part }))} />
        }
      />
    </section>
  );
}

function NothingYet({ soul }: { soul: Soul }) {
  const w = useWords(chatWords);
  return (
    <Center className={c.listBox}>
      <div className={c.nothing}>
        <SoulFace soulId={soul.soul_id} size={88} />
        <Text c="dimmed">{w.empty(soul.name)}</Text>
      </div>
    </Center>
  );
}

/** For those who do not see the words come. */
function Answering({ sessionId, name }: { sessionId: string; name: string }) {
  const w = useWords(chatWords);
  const speaking = useLive((state) =>
    Object.values(state.turns).some((turn) => turn.message.session_id === sessionId && turn.phase !== "failed"),
  );
  return (
    <div className="visually-hidden" role="status">
      {speaking ? w.answering(name) : ""}
    </div>
  );
}

/** Say something here; where there is no conversation yet, one is begun first. Resolves to whether it was taken. */
function useSend(soul: Soul, session: Session | undefined, roles: Roles) {
  const { person } = useAccess();
  const navigate = useNavigate();
  const begin = useMutation({
    mutationFn: () =>
      ask(
        api.POST("/v1/sessions", {
          body: { soul_id: soul.soul_id, user_id: person, people: [], souls: [], title: "" },
        }),
      ),
    onError: showProblem,
  });
  return async (text: string): Promise<boolean> => {
    const there = session ?? (await begin.mutateAsync().catch(() => null));
    if (!there) return false;
    say({
      soul_id: roles.soulId,
      session_id: there.session_id,
      text,
      user_id: roles.person,
      terminal_id: roles.terminalId,
    });
    if (session) return true;
    queryClient.setQueryData(keys.session(there.session_id, "itself"), there);
    void queryClient.invalidateQueries({ queryKey: keys.sessions() });
    void navigate(`/chat/${encodeURIComponent(there.session_id)}`, { replace: true });
    return true;
  };
}
