/** Which conversation this one continues, and what it knows of it. */

import { Button, Group, Loader } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconArrowBackUp } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { Link } from "react-router";

import { api, ask } from "~/api/client";
import { keys } from "~/api/queries";
import { useScene } from "~/pages/chat/scene";
import { FEW, useSessions } from "~/pages/chat/sessions";
import { ProblemNote } from "~/parts/problem";
import { chatWords } from "~/words/chat";
import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";
import c from "./chat.module.css";

/** The backgrounds that sum up a conversation have such ids. */
const SUMMARY = /^summary_/;

export function Origin() {
  const w = useWords(chatWords);
  const { session, soul } = useScene();
  const [open, { toggle }] = useDisclosure(false);
  const summaryId = useId();
  const background = session.background_id;
  const hasSummary = background !== null && SUMMARY.test(background);
  if (session.continued_from === null) return null;
  return (
    <>
      <Group className={c.origin} gap={6} wrap="nowrap">
        <IconArrowBackUp size={15} aria-hidden />
        <OriginLink sessionId={session.continued_from} soulId={soul.soul_id} />
        {hasSummary && (
          <Button
            size="compact-xs"
            mih={24}
            variant="subtle"
            aria-expanded={open}
            aria-controls={open ? summaryId : undefined}
            onClick={toggle}
          >
            {w.summary}
          </Button>
        )}
      </Group>
      {hasSummary && open && <Summary id={summaryId} backgroundId={background} />}
    </>
  );
}

function OriginLink({ sessionId, soulId }: { sessionId: string; soulId: string }) {
  const w = useWords(chatWords);
  const sessions = useSessions(soulId).data;
  const origin = sessions?.find((one) => one.session_id === sessionId);
  const isGone = sessions !== undefined && sessions.length < FEW && !origin;
  if (isGone) return <span className={c.originTitle}>{w.continuesGone}</span>;
  return (
    <span className={c.originTitle}>
      {w.continues}{" "}
      <Link to={`/chat/${encodeURIComponent(sessionId)}`}>
        {origin ? origin.title || w.untitled : w.continuesEarlier}
      </Link>
    </span>
  );
}

function Summary({ id, backgroundId }: { id: string; backgroundId: string }) {
  const w = useWords(chatWords);
  const common = useWords(commonWords);
  const background = useQuery({
    queryKey: [...keys.backgrounds, backgroundId],
    queryFn: () =>
      ask(api.GET("/v1/backgrounds/{background_id}", { params: { path: { background_id: backgroundId } } })),
  });
  return (
    <section id={id} className={c.summary} aria-label={w.summaryLabel} tabIndex={0}>
      {background.isPending && <Loader size="xs" role="img" aria-label={common.loading} />}
      {background.error && <ProblemNote problem={background.error} onRetry={() => void background.refetch()} />}
      {background.data && (background.data.initial_context || w.noSummary)}
    </section>
  );
}
