/** The chat: conversations on the left, the talk in the middle, how the soul feels on the right. */

import { Button, Center, Loader, Stack, Text, Title } from "@mantine/core";
import { useDisclosure, useMediaQuery } from "@mantine/hooks";
import { lazy, Suspense, useEffect } from "react";
import { Link, useNavigate, useParams } from "react-router";

import { useAccess } from "~/access";
import { Problem } from "~/api/client";
import { later } from "~/later";
import { Conversations } from "~/pages/chat/conversations";
import { Dialogs } from "~/pages/chat/dialogs";
import { DropZone } from "~/pages/chat/drop-zone";
import type { Soul } from "~/pages/chat/scene";
import { readerOf, type Session, soulsOf, useSession, useSessions } from "~/pages/chat/sessions";
import { Talk } from "~/pages/chat/talk";
import { MoodPanel, useEmotion } from "~/parts/mood";
import { ProblemNote } from "~/parts/problem";
import { useSoul, useSouls } from "~/parts/soul-picker";
import { usePreferences } from "~/preferences";
import { chatWords } from "~/words/chat";
import { commonWords } from "~/words/common";
import { moodWords } from "~/words/mood";
import { useWords } from "~/words/words";
import c from "./chat.module.css";

/** The robot brings a client of the broker along: it is loaded after the talk is there. */
const RobotPanel = lazy(async () => ({ default: (await import("~/robot/robot-panel")).RobotPanel }));

const FirstRun = later(async () => (await import("~/pages/chat/first-run")).FirstRun);
const SideDrawer = later(async () => (await import("~/pages/chat/side-drawer")).SideDrawer);

const AT_ONCE = { getInitialValueInEffect: false };

export default function ChatPage() {
  const w = useWords(chatWords);
  const common = useWords(commonWords);
  const access = useAccess();
  const souls = useSouls();
  if (!access.isSomebody) {
    return (
      <Center h="100%" p="md">
        <Stack className="panel" maw={460}>
          <Title order={1} size="h3">
            {w.devicesOnly}
          </Title>
          <Text size="sm">{w.devicesOnlyText}</Text>
        </Stack>
      </Center>
    );
  }
  const loading = (
    <Center h="100%">
      <Loader role="img" aria-label={common.loading} />
    </Center>
  );
  if (souls.isPending) return loading;
  if (souls.error) {
    return (
      <Center h="100%" p="md">
        <ProblemNote problem={souls.error} onRetry={() => void souls.refetch()} />
      </Center>
    );
  }
  return <Suspense fallback={loading}>{souls.data.length ? <Chat /> : <FirstRun />}</Suspense>;
}

function Chat() {
  const { sessionId } = useParams();
  const session = useSession(sessionId);
  const soul = useSoulOf(session.data);
  useFollow(session.data);
  const isSeeking = useNewestSession(sessionId, soul?.soul_id);
  if (!soul) return null;
  return (
    <DropZone>
      <Columns
        soul={soul}
        sessionId={sessionId}
        session={session.data}
        isPending={sessionId ? session.isPending : isSeeking}
        problem={session.error}
      />
      <Dialogs />
    </DropZone>
  );
}

/** The chosen soul as long as it takes part, else the conversation's own. */
function useSoulOf(session: Session | undefined): Soul | undefined {
  const { soul } = useSoul();
  const souls = useSouls().data;
  if (!session || soulsOf(session).includes(soul?.soul_id ?? "")) return soul;
  return souls?.find((one) => one.soul_id === session.soul_id) ?? soul;
}

interface ColumnsProps {
  soul: Soul;
  sessionId: string | undefined;
  session: Session | undefined;
  isPending: boolean;
  problem: Error | null;
}

function Columns({ soul, sessionId, session, isPending, problem }: ColumnsProps) {
  const w = useWords(chatWords);
  const common = useWords(commonWords);
  const mood = useWords(moodWords);
  const roomForList = useMediaQuery("(min-width: 60em)", true, AT_ONCE);
  const roomForMood = useMediaQuery("(min-width: 78em)", true, AT_ONCE);
  const [listOpen, list] = useDisclosure(false);
  const [moodOpen, moodDrawer] = useDisclosure(false);
  useEmotion(soul.soul_id, readerOf(useAccess()));
  const conversations = <Conversations soulId={soul.soul_id} current={sessionId} onChosen={list.close} />;
  const layout = roomForMood ? "three" : roomForList ? "two" : "one";
  return (
    <div className={c.page} data-layout={layout}>
      {roomForList ? (
        <div className={c.side}>{conversations}</div>
      ) : (
        <Suspense>
          <SideDrawer opened={listOpen} onClose={list.close} title={w.conversations} size={300} classNames={{ body: c.drawer }}>
            {conversations}
          </SideDrawer>
        </Suspense>
      )}
      {problem && (!session || isGone(problem)) ? (
        <NoSuchSession problem={problem} />
      ) : isPending ? (
        <Center className={`panel ${c.talk}`}>
          <Loader role="img" aria-label={common.loading} />
        </Center>
      ) : (
        <Talk
          key={sessionId ?? soul.soul_id}
          soul={soul}
          session={session}
          onConversations={roomForList ? null : list.open}
          onMood={roomForMood ? null : moodDrawer.open}
        />
      )}
      {roomForMood ? (
        <Beside soul={soul} />
      ) : (
        <Suspense>
          <SideDrawer opened={moodOpen} onClose={moodDrawer.close} title={mood.title} position="right" size={380}>
            <Beside soul={soul} />
          </SideDrawer>
        </Suspense>
      )}
    </div>
  );
}

function Beside({ soul }: { soul: Soul }) {
  const access = useAccess();
  return (
    <aside className={c.right}>
      <MoodPanel soulId={soul.soul_id} userId={readerOf(access)} />
      <Suspense>{access.isTerminal && <RobotPanel soulId={soul.soul_id} compact />}</Suspense>
    </aside>
  );
}

const isGone = (problem: Error) => problem instanceof Problem && problem.status === 404;

function NoSuchSession({ problem }: { problem: Error }) {
  const w = useWords(chatWords);
  const common = useWords(commonWords);
  return (
    <Center className={`panel ${c.talk}`}>
      <Stack p="md" align="center">
        {isGone(problem) && (
          <Title order={1} size="h3">
            {w.gone}
          </Title>
        )}
        {!isGone(problem) && <ProblemNote problem={problem} />}
        <Button component={Link} to="/chat" variant="light">
          {common.home}
        </Button>
      </Stack>
    </Center>
  );
}

/** The soul and the person of a conversation become those of the page. */
function useFollow(session: Session | undefined): void {
  const { actsForAnybody } = useAccess();
  useEffect(() => {
    if (!session) return;
    const { soulId, userId, setSoulId, setUserId } = usePreferences.getState();
    if (!soulsOf(session).includes(soulId ?? "")) setSoulId(session.soul_id);
    if (actsForAnybody && ![session.user_id, ...session.people].includes(userId)) setUserId(session.user_id);
  }, [session, actsForAnybody]);
}

/** Without a conversation in the address it is the one that was spoken last. Whether that is still to be found out. */
function useNewestSession(sessionId: string | undefined, soulId: string | undefined): boolean {
  const navigate = useNavigate();
  const sessions = useSessions(sessionId ? undefined : soulId);
  const newest = sessions.data?.[0];
  useEffect(() => {
    if (!sessionId && newest) void navigate(`/chat/${encodeURIComponent(newest.session_id)}`, { replace: true });
  }, [sessionId, newest, navigate]);
  return sessions.isPending || newest !== undefined;
}
