/** What would come to a soul's mind when somebody says this. */

import { Alert, Button, Group, SegmentedControl, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useSearchParams } from "react-router";

import { useAccess } from "~/access";
import { api, ask, type Schemas } from "~/api/client";
import { keys } from "~/api/queries";
import { Empty, Read, Section } from "~/pages/soul/section";
import css from "~/pages/soul/soul.module.css";
import { useWhen } from "~/pages/soul/when";
import { commonWords } from "~/words/common";
import { memoryWords } from "~/words/memory";
import { useWords } from "~/words/words";

import { EpisodeRow } from "./episode-row";
import { Question } from "./question";
import { Score } from "./score";
import { useView } from "./view";

type Memories = Schemas["Memories"];

const COUNTS = ["3", "5", "10", "20"];

export function useRecall(soulId: string, q: string, k: number) {
  const { userId } = useView();
  const params = { path: { soul_id: soulId }, query: { q, k, user_id: userId } };
  return useQuery({
    queryKey: keys.soul(soulId, "recall", q, k, userId),
    queryFn: () => ask(api.GET("/v1/souls/{soul_id}/recall", { params })),
    enabled: q !== "",
  });
}

export function Recall({ soulId }: { soulId: string }) {
  const w = useWords(memoryWords);
  const { userId } = useAccess();
  const { everybody } = useView();
  const [search, setSearch] = useSearchParams();
  const [count, setCount] = useState("5");
  const q = search.get("q") ?? "";
  const memories = useRecall(soulId, q, Number(count));
  return (
    <Section title={w.question} text={w.questionText(everybody ? w.ofAll : w.as(userId))}>
      <Question
        label={w.question}
        placeholder={w.questionPlaceholder}
        submit={w.ask}
        value={q}
        onAsk={(question) => setSearch(question ? { q: question } : {})}
      >
        <SegmentedControl aria-label={w.howMany} data={COUNTS} value={count} onChange={setCount} />
      </Question>
      {q && (
        <Read query={memories}>
          {(data) => (
            <div aria-live="polite">
              {data.problem && <Missing problem={data.problem} onRetry={() => void memories.refetch()} />}
              <Found soulId={soulId} memories={data} />
            </div>
          )}
        </Read>
      )}
    </Section>
  );
}

function Missing({ problem, onRetry }: { problem: string; onRetry: () => void }) {
  const w = useWords(memoryWords);
  const common = useWords(commonWords);
  return (
    <Alert color="yellow" mb="sm">
      <Group justify="space-between">
        <Text size="sm">{w.problem(problem)}</Text>
        <Button size="compact-sm" variant="default" onClick={onRetry}>
          {common.retry}
        </Button>
      </Group>
    </Alert>
  );
}

function Found({ soulId, memories }: { soulId: string; memories: Memories }) {
  const w = useWords(memoryWords);
  const { episodes, events } = memories;
  const summaries = memories.summaries ?? [];
  const isEmpty = episodes.length + events.length + summaries.length === 0;
  return (
    <Stack gap="md">
      {isEmpty && <Empty>{w.nothingCame}</Empty>}
      {episodes.length > 0 && (
        <Kind title={w.episodes}>
          {episodes.map((episode) => (
            <li key={episode.message_id}>
              <EpisodeRow episode={{ ...episode, soul_id: soulId }} best={bestOf(episodes)} withLink />
            </li>
          ))}
        </Kind>
      )}
      {events.length > 0 && (
        <Kind title={w.events}>
          {events.map((event) => (
            <li key={event.event_id} className={css.row}>
              <div className={css.grow}>
                <Text size="sm" component={Link} to={`/memory/events?event=${encodeURIComponent(event.event_id)}`}>
                  {event.summary}
                </Text>
                <Score value={event.score} best={bestOf(events)} />
              </div>
            </li>
          ))}
        </Kind>
      )}
      {summaries.length > 0 && (
        <Kind title={w.summaries}>
          {summaries.map((summary) => (
            <Summary key={summary.summary_id} summary={summary} best={bestOf(summaries)} />
          ))}
        </Kind>
      )}
    </Stack>
  );
}

function Summary({ summary, best }: { summary: Schemas["SummaryOut"]; best: number }) {
  const w = useWords(memoryWords);
  const when = useWhen();
  return (
    <li className={css.row}>
      <div className={css.grow}>
        <Text size="sm">{summary.text}</Text>
        <Group gap={8}>
          <Text size="xs" c="dimmed">
            {when.time(summary.at)}
          </Text>
          <Text size="xs" component={Link} to={`/chat/${encodeURIComponent(summary.session_id)}`}>
            {w.openChat}
          </Text>
          <Score value={summary.score} best={best} />
        </Group>
      </div>
    </li>
  );
}

function Kind({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <div>
      <Title order={3} size="h6" mb={4}>
        {title}
      </Title>
      <ul className={`${css.plain} ${css.spaced}`}>{children}</ul>
    </div>
  );
}

const bestOf = (found: { score: number | null }[]) => Math.max(...found.map(({ score }) => score ?? 0), 0);
