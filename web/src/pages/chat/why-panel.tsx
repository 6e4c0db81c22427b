/** What stands behind an answer: under the message, so that it can be read beside the words. */

import { CloseButton, Loader, Text } from "@mantine/core";
import { IconBulb } from "@tabler/icons-react";
import { type ReactNode, useEffect, useRef } from "react";

import type { Answer } from "~/live/live";
import type { SpeechRow } from "~/pages/chat/rows";
import { hasTurn, type TurnDetails, useTurnDetails } from "~/pages/chat/turn-details";
import {
  appraisalSentences,
  costSentence,
  gateSentence,
  growthSentence,
  heardSentence,
  intentSentences,
  known,
  sourceGroups,
} from "~/pages/chat/why";
import { type Pad, useAxes } from "~/parts/axes";
import { ProblemNote } from "~/parts/problem";
import { chatWords } from "~/words/chat";
import { commonWords } from "~/words/common";
import { whyWords } from "~/words/why";
import { useWords } from "~/words/words";
import c from "./why.module.css";

interface WhyProps {
  row: SpeechRow;
  id: string;
  /** Told with what is inside of the message. */
  onClose: (inside: Element) => void;
}

export function Why({ row, id, onClose }: WhyProps) {
  const w = useWords(whyWords);
  const common = useWords(commonWords);
  const turn = useTurnDetails(row);
  const isRecorded = hasTurn(row);
  const panel = useSeen(turn.data);
  return (
    <section className={c.why} aria-label={w.title} id={id} data-testid="why" ref={panel} tabIndex={0}>
      <div className={c.title}>
        <IconBulb size={15} aria-hidden /> <span>{w.title}</span>
        <CloseButton size="sm" aria-label={common.close} onClick={(event) => onClose(event.currentTarget)} />
      </div>
      {!isRecorded && <Text size="sm">{row.message?.proactive ? w.unasked : w.notRecorded}</Text>}
      {isRecorded && turn.isPending && <Loader size="xs" role="img" aria-label={common.loading} />}
      {turn.error && <ProblemNote problem={turn.error} onRetry={() => void turn.refetch()} />}
      {turn.data && <Reasons turn={turn.data} />}
    </section>
  );
}

/** It is in sight when it opens, and when it has grown to what was read. */
function useSeen(content: unknown) {
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    // In the frame after the one in which the list measures the row, and may go to its end.
    let frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(() => panel.current?.scrollIntoView({ block: "nearest" }));
    });
    return () => cancelAnimationFrame(frame);
  }, [content]);
  return panel;
}

function Reasons({ turn }: { turn: TurnDetails }) {
  const w = useWords(whyWords);
  const heard = turn.user_emotion;
  return (
    <dl className={c.list}>
      <Reason title={w.heardTitle}>
        <div>{heardSentence(heard, w)}</div>
        <div>{appraisalSentences(heard, w).join("; ")}</div>
        {heard.appraisal.reasons.length > 0 && <div>{w.reasons(heard.appraisal.reasons.join(", "))}</div>}
        <PadLine of={heard} />
      </Reason>
      <Recalled turn={turn} />
      {turn.answer ? <Answered answer={turn.answer} /> : <Text size="sm">{w.unanswered}</Text>}
    </dl>
  );
}

function Reason({ title, children }: { title: string; children: ReactNode }) {
  return (
    <>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Recalled({ turn }: { turn: TurnDetails }) {
  const w = useWords(whyWords);
  return (
    <Reason title={w.recalledTitle}>
      {turn.recalled.length === 0 && w.nothingRecalled}
      {turn.recalled.length > 0 && (
        <ul className={c.memories}>
          {turn.recalled.map((memory) => (
            <li key={memory.source}>
              <span className={c.kind}>{known(w.kinds, memory.kind)}</span>{" "}
              {memory.text ?? <em className={c.kind}>{w.forgotten}</em>}
            </li>
          ))}
        </ul>
      )}
    </Reason>
  );
}

function Answered({ answer }: { answer: Answer }) {
  const w = useWords(whyWords);
  const modes = useWords(chatWords).modes;
  return (
    <>
      <Reason title={w.sourcesTitle}>
        <Sources sources={answer.persona.sources} />
        {answer.persona.cut?.length > 0 && <div>{w.cut(answer.persona.cut.join(", "))}</div>}
      </Reason>
      <Reason title={w.intentsTitle}>
        {intentSentences(answer, w).map((sentence) => (
          <div key={sentence}>{sentence}</div>
        ))}
      </Reason>
      <Reason title={w.gateTitle}>{gateSentence(answer, w)}</Reason>
      <Reason title={w.feltTitle}>
        <PadLine of={answer.soul_emotion} />
      </Reason>
      <Reason title={w.growthTitle}>{growthSentence(answer, w)}</Reason>
      <Reason title={w.modeTitle}>{modes[answer.persona.mode].name}</Reason>
      <Reason title={w.costTitle}>{costSentence(answer, w)}</Reason>
    </>
  );
}

function Sources({ sources }: { sources: string[] }) {
  const w = useWords(whyWords);
  const groups = sourceGroups(sources);
  if (!groups.length) return w.noSources;
  return (
    <ul className={c.sources}>
      {groups.map(({ kind, names }) => (
        <li key={kind} title={names.join(", ")}>
          {known(w.sources, kind)}
          {names.length === 1 && kind !== "slot" ? ` · ${names[0]}` : names.length > 1 ? ` × ${names.length}` : ""}
        </li>
      ))}
    </ul>
  );
}

function PadLine({ of }: { of: Pad }) {
  return (
    <div className={c.pad}>
      {useAxes().map(({ axis, name, color }) => (
        <span key={axis}>
          <i style={{ background: color }} aria-hidden />
          {name} {of[axis].toFixed(2)}
        </span>
      ))}
    </div>
  );
}
