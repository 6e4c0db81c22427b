/** An event; opened, with its pattern, what it changed, and what it was drawn from. */

import { Badge, Button, Group, Stack, Text } from "@mantine/core";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";

import { useAccess } from "~/access";
import { api, ask, type Schemas } from "~/api/client";
import { keys } from "~/api/queries";
import { Empty, Read } from "~/pages/soul/section";
import css from "~/pages/soul/soul.module.css";
import { useWhen } from "~/pages/soul/when";
import { ConfirmButton } from "~/parts/confirm";
import { showDone, showProblem } from "~/parts/problem";
import { memoryWords } from "~/words/memory";
import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import { changesOf } from "./impact";
import own from "./memory.module.css";
import { useView } from "./view";

type Event = Schemas["EventOut"];

interface EventProps {
  event: Event;
  isOpen: boolean;
  onToggle: () => void;
}

export function EventRow({ event, isOpen, onToggle }: EventProps) {
  const w = useWords(memoryWords);
  const when = useWhen();
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <div className={css.row} data-chosen={isOpen || undefined}>
      <div className={css.grow}>
        <button type="button" className={own.opener} aria-expanded={isOpen} onClick={onToggle}>
          <Group gap={8} wrap="nowrap" align="flex-start">
            <Chevron size={16} aria-hidden style={{ flex: "none", marginTop: 3 }} />
            <Text size="sm" span>
              {event.summary}
            </Text>
          </Group>
        </button>
        <Group gap={8} pl={24} mt={2}>
          <Badge size="xs" tt="none" variant={event.visibility === "private" ? "light" : "default"}>
            {event.visibility === "private" ? w.private : w.shared}
          </Badge>
          <Text size="xs" c="dimmed">
            {when.time(event.timestamp)} · {w.recalled(event.recalled)} · {w.useful(event.useful)} · {w.merged(event.merged)}
          </Text>
        </Group>
        {isOpen && <Details event={event} />}
      </div>
    </div>
  );
}

function Details({ event }: { event: Event }) {
  const w = useWords(memoryWords);
  const fields = useWords(soulWords).field;
  const { isServerOwner } = useAccess();
  const changes = changesOf(event.impact);
  return (
    <Stack gap="xs" pl={24} mt="sm">
      <dl className={own.pairs}>
        {Object.entries(event.pattern).map(([name, text]) => (
          <Pair key={name} name={w.pattern[name] ?? name} text={text} />
        ))}
        {event.narrative_fragment && <Pair name={w.story} text={event.narrative_fragment} />}
        {changes.map(({ field, before, after }) => (
          <Pair key={`${field}${after}`} name={w.changes} text={w.changeOf(fields[field] ?? field, before, after)} />
        ))}
      </dl>
      <Provenance eventId={event.event_id} />
      {isServerOwner && <ForgetEvent eventId={event.event_id} />}
    </Stack>
  );
}

function Pair({ name, text }: { name: string; text: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{text}</dd>
    </>
  );
}

function Provenance({ eventId }: { eventId: string }) {
  const w = useWords(memoryWords);
  const { userId } = useView();
  const params = { path: { event_id: eventId }, query: { user_id: userId } };
  const event = useQuery({
    queryKey: [...keys.events, "one", eventId, userId],
    queryFn: () => ask(api.GET("/v1/events/{event_id}", { params })),
  });
  return (
    <div>
      <Text size="sm" fw={600}>
        {w.provenance}
      </Text>
      <Read query={event}>
        {({ provenance }) =>
          provenance.length === 0 ? (
            <Empty>{w.noProvenance}</Empty>
          ) : (
            provenance.map((source) => <Source key={`${source.session_id}${source.created_at}`} source={source} />)
          )
        }
      </Read>
    </div>
  );
}

function Source({ source }: { source: Schemas["Source"] }) {
  const w = useWords(memoryWords);
  const when = useWhen();
  const [isOpen, setOpen] = useState(false);
  return (
    <div>
      <Group gap={8}>
        <Text size="sm" component={Link} to={`/chat/${encodeURIComponent(source.session_id)}`}>
          {w.openChat}
        </Text>
        <Text size="xs" c="dimmed">
          {when.time(source.created_at)}
        </Text>
        <Button size="compact-xs" variant="subtle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {w.showMessages}
        </Button>
      </Group>
      {isOpen && <SourceWords source={source} />}
    </div>
  );
}

const MOST_MESSAGES = 1000;

function SourceWords({ source }: { source: Schemas["Source"] }) {
  const w = useWords(memoryWords);
  const { userId } = useView();
  const { session_id, message_ids: ids } = source;
  const first = Math.min(...ids);
  const limit = Math.min(MOST_MESSAGES, Math.max(...ids) - first + 1);
  const messages = useQuery({
    queryKey: keys.session(session_id, "source", first, limit, userId),
    queryFn: () => {
      const params = { path: { session_id }, query: { after: first - 1, limit, user_id: userId } };
      return ask(api.GET("/v1/sessions/{session_id}/messages", { params }));
    },
    enabled: ids.length > 0,
    select: (found) => found.filter(({ message_id }) => ids.includes(message_id)),
  });
  return (
    <Read query={messages}>
      {(found) =>
        found.length === 0 ? (
          <Empty>{w.messagesGone}</Empty>
        ) : (
          found.map(({ message_id, content, role, user_id }) => (
            <Text key={message_id} size="sm" fs="italic">
              {role === "user" ? `${user_id}: ` : ""}“{content}”
            </Text>
          ))
        )
      }
    </Read>
  );
}

function ForgetEvent({ eventId }: { eventId: string }) {
  const w = useWords(memoryWords);
  const client = useQueryClient();
  const forget = useMutation({
    mutationFn: () => ask(api.DELETE("/v1/events/{event_id}", { params: { path: { event_id: eventId } } })),
    onSuccess: async () => {
      // Its own answer is left alone: it would be asked for once more while its row is still there.
      await client.invalidateQueries({ queryKey: [...keys.events, "list"] });
      showDone(w.forgotten);
    },
    onError: showProblem,
  });
  return (
    <Group>
      <ConfirmButton question={w.forgetEventAsk} variant="light" loading={forget.isPending} onConfirm={forget.mutate}>
        {w.forgetEvent}
      </ConfirmButton>
    </Group>
  );
}
