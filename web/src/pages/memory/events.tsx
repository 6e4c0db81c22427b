/** What was learned from conversations, the newest first, or what resembles a text. */

import { Button, Group } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "react-router";

import { useAccess } from "~/access";
import { api, ask } from "~/api/client";
import { keys } from "~/api/queries";
import { Empty, Section } from "~/pages/soul/section";
import { ProblemNote } from "~/parts/problem";
import { commonWords } from "~/words/common";
import { memoryWords } from "~/words/memory";
import { useWords } from "~/words/words";

import { EventRow } from "./event-row";
import { ForgetSession } from "./forget-session";
import { Question } from "./question";
import { TidyDialog } from "./tidy";
import { useView } from "./view";
import { VirtualList } from "./virtual-list";

const PAGE = 50;
const MOST_FOUND = 50;

export function Events({ soulId }: { soulId: string }) {
  const w = useWords(memoryWords);
  const common = useWords(commonWords);
  const [search, setSearch] = useSearchParams();
  const q = search.get("q") ?? "";
  return (
    <Section title={w.events} text={`${w.eventsText} ${w.correctEvent}`} actions={<Actions soulId={soulId} />}>
      <Question
        label={w.findEvents}
        placeholder={w.findEventsPlaceholder}
        submit={common.search}
        value={q}
        onAsk={(question) => setSearch(question ? { q: question } : {})}
      />
      <EventList q={q} opened={search.get("event")} />
    </Section>
  );
}

function EventList({ q, opened }: { q: string; opened: string | null }) {
  const w = useWords(memoryWords);
  const [open, setOpen] = useState(opened);
  const events = useEvents(q);
  const listed = events.data?.pages.flat() ?? [];
  const known = new Map(listed.map((event) => [event.event_id, event]));
  if (events.error) return <ProblemNote problem={events.error} onRetry={() => void events.refetch()} />;
  if (events.isSuccess && known.size === 0) return <Empty>{q ? w.noEventsFound : w.noEvents}</Empty>;
  return (
    <VirtualList
      label={w.eventList}
      items={[...known.values()]}
      keyOf={({ event_id }) => event_id}
      onEnd={events.hasNextPage ? () => void events.fetchNextPage({ cancelRefetch: false }) : undefined}
      more={w.loadingMore}
    >
      {(event) => (
        <EventRow
          event={event}
          isOpen={open === event.event_id}
          onToggle={() => setOpen(open === event.event_id ? null : event.event_id)}
        />
      )}
    </VirtualList>
  );
}

/** Pages by offset; what resembles a text comes all at once. */
function useEvents(q: string) {
  const { userId } = useView();
  return useInfiniteQuery({
    queryKey: [...keys.events, "list", q, userId],
    queryFn: ({ pageParam: offset }) => {
      const query = q ? { q, limit: MOST_FOUND, user_id: userId } : { limit: PAGE, offset, user_id: userId };
      return ask(api.GET("/v1/events", { params: { query } }));
    },
    initialPageParam: 0,
    getNextPageParam: (page, _, offset) => (q || page.length < PAGE ? undefined : offset + PAGE),
  });
}

function Actions({ soulId }: { soulId: string }) {
  const w = useWords(memoryWords);
  const { isOwner, isServerOwner } = useAccess();
  const [open, setOpen] = useState<"forget" | "tidy" | null>(null);
  const close = () => setOpen(null);
  return (
    <Group gap="xs">
      {isOwner && (
        <Button size="xs" variant="subtle" color="red" onClick={() => setOpen("forget")}>
          {w.forgetSession}
        </Button>
      )}
      {isServerOwner && (
        <Button size="xs" variant="default" onClick={() => setOpen("tidy")}>
          {w.tidy}
        </Button>
      )}
      {open === "forget" && <ForgetSession soulId={soulId} first={null} onClose={close} />}
      {open === "tidy" && <TidyDialog onClose={close} />}
    </Group>
  );
}
