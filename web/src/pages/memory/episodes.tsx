/** What was said: found by meaning and words, or read conversation by conversation. */

import { Button, Group, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useSearchParams } from "react-router";

import { api, ask } from "~/api/client";
import { keys } from "~/api/queries";
import { Empty, Read, Section } from "~/pages/soul/section";
import css from "~/pages/soul/soul.module.css";
import { ProblemNote } from "~/parts/problem";
import { commonWords } from "~/words/common";
import { memoryWords } from "~/words/memory";
import { useWords } from "~/words/words";

import { ConversationSelect } from "./conversation-select";
import { type Episode, EpisodeRow } from "./episode-row";
import { ForgetSession } from "./forget-session";
import { Question } from "./question";
import { useRecall } from "./recall";
import { type Session, useConversations, useView } from "./view";
import { VirtualList } from "./virtual-list";

const MOST_FOUND = 20;
const PAGE = 200;

export function Episodes({ soulId }: { soulId: string }) {
  const w = useWords(memoryWords);
  const common = useWords(commonWords);
  const [search, setSearch] = useSearchParams();
  const q = search.get("q") ?? "";
  return (
    <Section title={w.episodes} text={w.episodesText}>
      <Question
        label={w.find}
        placeholder={w.findPlaceholder}
        submit={common.search}
        value={q}
        onAsk={(question) => setSearch(question ? { q: question } : {})}
      />
      {q ? <Found soulId={soulId} q={q} /> : <Conversations soulId={soulId} />}
    </Section>
  );
}

function Found({ soulId, q }: { soulId: string; q: string }) {
  const w = useWords(memoryWords);
  const memories = useRecall(soulId, q, MOST_FOUND);
  return (
    <Read query={memories}>
      {({ episodes }) =>
        episodes.length === 0 ? (
          <Empty>{w.nothingCame}</Empty>
        ) : (
          <>
            <Text size="xs" c="dimmed" role="status">
              {w.found(episodes.length)}
            </Text>
            <ul className={`${css.plain} ${css.spaced}`}>
              {episodes.map((episode) => (
                <li key={episode.message_id}>
                  <EpisodeRow
                    episode={{ ...episode, soul_id: soulId }}
                    best={Math.max(...episodes.map(({ score }) => score ?? 0))}
                    withLink
                  />
                </li>
              ))}
            </ul>
          </>
        )
      }
    </Read>
  );
}

function Conversations({ soulId }: { soulId: string }) {
  const w = useWords(memoryWords);
  const sessions = useConversations(soulId);
  const [chosen, setChosen] = useState<string | null>(null);
  const [forgetting, setForgetting] = useState(false);
  return (
    <Read query={sessions}>
      {(data) => {
        const session = data.find(({ session_id }) => session_id === chosen) ?? data[0];
        if (!session) return <Empty>{w.noConversations}</Empty>;
        return (
          <>
            <Group gap="xs" align="flex-end">
              <ConversationSelect sessions={data} value={session.session_id} onChange={setChosen} className={css.grow} />
              <Button component={Link} to={`/chat/${encodeURIComponent(session.session_id)}`} variant="default">
                {w.openChat}
              </Button>
              <Button variant="subtle" color="red" onClick={() => setForgetting(true)}>
                {w.forgetSession}
              </Button>
            </Group>
            <Messages session={session} key={session.session_id} />
            {forgetting && (
              <ForgetSession soulId={soulId} first={session.session_id} onClose={() => setForgetting(false)} />
            )}
          </>
        );
      }}
    </Read>
  );
}

function Messages({ session }: { session: Session }) {
  const w = useWords(memoryWords);
  const messages = useMessages(session.session_id);
  const episodes: Episode[] = (messages.data?.pages.flat() ?? []).map(({ timestamp, ...message }) => ({
    ...message,
    at: timestamp,
    session_id: session.session_id,
  }));
  if (messages.error) return <ProblemNote problem={messages.error} onRetry={() => void messages.refetch()} />;
  if (messages.isSuccess && episodes.length === 0) return <Empty>{w.noMessages}</Empty>;
  return (
    <VirtualList
      label={w.messages}
      items={episodes}
      keyOf={({ message_id }) => message_id}
      onEnd={messages.hasNextPage ? () => void messages.fetchNextPage({ cancelRefetch: false }) : undefined}
      more={w.loadingMore}
    >
      {(episode) => <EpisodeRow episode={episode} />}
    </VirtualList>
  );
}

function useMessages(sessionId: string) {
  const { userId } = useView();
  return useInfiniteQuery({
    queryKey: keys.session(sessionId, "episodes", userId),
    queryFn: ({ pageParam: after }) => {
      const params = { path: { session_id: sessionId }, query: { after, limit: PAGE, user_id: userId } };
      return ask(api.GET("/v1/sessions/{session_id}/messages", { params }));
    },
    initialPageParam: 0,
    getNextPageParam: (page) => (page.length < PAGE ? undefined : page.at(-1)?.message_id),
  });
}
