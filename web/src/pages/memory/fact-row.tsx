/** A fact; opened, with the messages that tell it and what held before. It is corrected where it stands. */

import { ActionIcon, Badge, Button, Group, Stack, Text, Textarea } from "@mantine/core";
import { IconChevronDown, IconChevronRight, IconPencil } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";

import { api, ask, type Schemas } from "~/api/client";
import { keys } from "~/api/queries";
import { DeleteButton } from "~/pages/soul/delete-button";
import { Empty, Read } from "~/pages/soul/section";
import { SharedBadge } from "~/pages/soul/sharing";
import css from "~/pages/soul/soul.module.css";
import { useWhen } from "~/pages/soul/when";
import { commonWords } from "~/words/common";
import { factWords } from "~/words/facts";
import { useWords } from "~/words/words";

import own from "./memory.module.css";
import { useCorrectFact, useDeleteFact, useFactParameters } from "./use-facts";
import { useMayChange } from "./view";

export type Fact = Schemas["FactOut"];

interface FactProps {
  soulId: string;
  fact: Fact;
  isOpen: boolean;
  onToggle: () => void;
}

export function FactRow({ soulId, fact, isOpen, onToggle }: FactProps) {
  const [correcting, setCorrecting] = useState(false);
  const mayChange = useMayChange()(fact.user_id);
  const Chevron = isOpen ? IconChevronDown : IconChevronRight;
  return (
    <div className={css.row} data-chosen={isOpen || undefined}>
      <div className={css.grow}>
        {correcting ? (
          <Correction soulId={soulId} fact={fact} onClose={() => setCorrecting(false)} />
        ) : (
          <button type="button" className={own.opener} aria-expanded={isOpen} onClick={onToggle}>
            <Group gap={8} wrap="nowrap" align="flex-start">
              <Chevron size={16} aria-hidden style={{ flex: "none", marginTop: 3 }} />
              <Text size="sm" span td={fact.valid_to ? "line-through" : undefined}>
                {fact.content}
              </Text>
            </Group>
          </button>
        )}
        <Dates fact={fact} />
        {isOpen && <Details soulId={soulId} fact={fact} />}
      </div>
      {mayChange && !correcting && <Changes soulId={soulId} fact={fact} onCorrect={() => setCorrecting(true)} />}
    </div>
  );
}

function Dates({ fact }: { fact: Fact }) {
  const w = useWords(factWords);
  const when = useWhen();
  return (
    <Group gap={8} pl={24} mt={2}>
      <Badge size="xs" tt="none" variant="default">
        {w.source[fact.source]}
      </Badge>
      <Text size="xs" c="dimmed">
        {w.toldBy(fact.user_id, when.time(fact.said_at))}
        {fact.valid_from && ` · ${w.since(when.time(fact.valid_from))}`}
        {fact.valid_to && ` · ${w.until(when.time(fact.valid_to))}`}
      </Text>
      <SharedBadge people={fact.shared_with} />
    </Group>
  );
}

function Changes({ soulId, fact, onCorrect }: { soulId: string; fact: Fact; onCorrect: () => void }) {
  const w = useWords(factWords);
  const remove = useDeleteFact(soulId);
  return (
    <Group gap={2} wrap="nowrap">
      {!fact.valid_to && (
        <ActionIcon variant="subtle" color="gray" aria-label={w.correctNamed(fact.content)} onClick={onCorrect}>
          <IconPencil size={16} aria-hidden />
        </ActionIcon>
      )}
      <DeleteButton
        question={w.deleteAsk}
        label={w.deleteNamed(fact.content)}
        loading={remove.isPending}
        onConfirm={() => remove.mutate(fact)}
      />
    </Group>
  );
}

function Correction({ soulId, fact, onClose }: { soulId: string; fact: Fact; onClose: () => void }) {
  const w = useWords(factWords);
  const common = useWords(commonWords);
  const [content, setContent] = useState(fact.content);
  const correct = useCorrectFact(soulId, onClose);
  const wanted = content.trim();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        correct.mutate({ fact, content: wanted });
      }}
    >
      <Stack gap="xs">
        <Textarea
          label={w.words}
          description={w.correctText}
          value={content}
          maxLength={500}
          autosize
          minRows={1}
          onChange={(event) => setContent(event.currentTarget.value)}
          autoFocus
        />
        <Group gap="xs">
          <Button type="submit" size="xs" loading={correct.isPending} disabled={!wanted || wanted === fact.content}>
            {common.save}
          </Button>
          <Button size="xs" variant="default" onClick={onClose}>
            {common.cancel}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Details({ soulId, fact }: { soulId: string; fact: Fact }) {
  const w = useWords(factWords);
  const when = useWhen();
  const params = useFactParameters(soulId)(fact);
  const detail = useQuery({
    queryKey: keys.soul(soulId, "facts", "one", fact.fact_id, params.query.user_id),
    queryFn: () => ask(api.GET("/v1/souls/{soul_id}/facts/{fact_id}", { params })),
  });
  return (
    <Read query={detail}>
      {({ evidence, history }) => (
        <Stack gap="xs" pl={24} mt="xs">
          <Part title={w.evidence} empty={w.noEvidence} isEmpty={evidence.length === 0}>
            {evidence.map((message) => (
              <li key={message.message_id}>
                <Text size="sm">“{message.content}”</Text>
                <Text size="xs" c="dimmed">
                  {message.user_id} · {when.time(message.timestamp)}
                </Text>
              </li>
            ))}
          </Part>
          <Part title={w.history} empty={w.noHistory} isEmpty={history.length === 0}>
            {history.map((earlier) => (
              <li key={earlier.fact_id}>
                <Text size="sm">{earlier.content}</Text>
                <Dates fact={earlier} />
              </li>
            ))}
          </Part>
        </Stack>
      )}
    </Read>
  );
}

interface PartProps {
  title: string;
  empty: string;
  isEmpty: boolean;
  children: ReactNode;
}

function Part({ title, empty, isEmpty, children }: PartProps) {
  return (
    <div>
      <Text size="xs" fw={600}>
        {title}
      </Text>
      {isEmpty ? <Empty>{empty}</Empty> : <ul className={`${css.plain} ${css.spaced}`}>{children}</ul>}
    </div>
  );
}
