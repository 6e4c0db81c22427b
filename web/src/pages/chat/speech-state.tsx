/** What becomes of something that was just said. */

import { Alert, Badge, Button, Group, Text } from "@mantine/core";
import { IconAlertTriangle, IconBolt, IconHandStop, IconPlayerStop, IconRefresh } from "@tabler/icons-react";
import { useEffect, useState } from "react";

import { dropTurn, retryTurn, type RunningTurn, useLive } from "~/live/live";
import type { SpeechRow } from "~/pages/chat/rows";
import { takeBack } from "~/pages/chat/talk-state";
import { useTurnDetails, wasRefused } from "~/pages/chat/turn-details";
import { usePreferences } from "~/preferences";
import { chatWords } from "~/words/chat";
import { commonWords } from "~/words/common";
import { moodWords } from "~/words/mood";
import { sentenceOf } from "~/words/problems";
import { useWords } from "~/words/words";
import c from "./chat.module.css";

/** Silence is told in seconds only when it has become noticeable. */
const NOTICEABLE_S = 3;

export function Waiting({ turn }: { turn: RunningTurn }) {
  const w = useWords(chatWords);
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const clock = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(clock);
  }, []);
  const seconds = Math.max(turn.waited, Math.floor((now - turn.startedAt) / 1000));
  return (
    <span className={c.waiting}>
      <span className={c.dots} aria-hidden>
        <i />
        <i />
        <i />
      </span>
      {seconds >= NOTICEABLE_S && <span>{w.thinking(Math.round(seconds))}</span>}
    </span>
  );
}

export function Tools({ tools }: { tools: string[] }) {
  const w = useWords(chatWords);
  if (!tools.length) return null;
  const names = [...new Set(tools)].map((tool) => (w.tools as Record<string, string>)[tool] ?? tool);
  return <div className={c.note}>🔧 {w.uses(names.join(" · "))}</div>;
}

/** A message that was not sent yet. */
export function SaidNote({ row }: { row: SpeechRow }) {
  const w = useWords(chatWords);
  const away = useLive((state) => state.connection !== "open");
  if (row.turn?.phase === "waiting" && away) return <div className={c.note}>⏳ {w.queued}</div>;
  return null;
}

/** What had come of an answer when the server was lost. It is asked for again as soon as the server is back. */
export function BrokenOff() {
  const w = useWords(chatWords);
  const away = useLive((state) => state.connection !== "open");
  return away ? <div className={c.note}>{w.brokenOff}</div> : null;
}

export function Failed({ turn }: { turn: RunningTurn }) {
  const w = useWords(chatWords);
  const common = useWords(commonWords);
  const lang = usePreferences((state) => state.lang);
  const { input_id: inputId, text, replaces } = turn.message;
  const isEdit = replaces !== undefined;
  // Who stopped it knows why.
  const isStopped = turn.problem?.code === "turn_stopped";
  const whatIsStored = isEdit ? w.failedEdit : turn.reply ? w.nothingStored : w.failed;
  return (
    <Alert
      className={c.failed}
      color={isStopped ? "gray" : "red"}
      variant="outline"
      role={isStopped ? "status" : "alert"}
      icon={isStopped ? <IconPlayerStop size={18} aria-hidden /> : <IconAlertTriangle size={18} aria-hidden />}
      title={isStopped ? undefined : turn.reply ? `${w.brokeOffHere} ${whatIsStored}` : whatIsStored}
    >
      {turn.problem && <Text size="sm">{sentenceOf(turn.problem, lang)}</Text>}
      <Group gap="xs" mt="xs">
        <Button
          size="xs"
          color={isStopped ? "gray" : "red"}
          variant="light"
          leftSection={<IconRefresh size={14} aria-hidden />}
          onClick={() => retryTurn(inputId)}
        >
          {common.retry}
        </Button>
        {text !== undefined && (
          <Button size="xs" variant="default" onClick={() => takeBack(inputId)}>
            {w.takeBack}
          </Button>
        )}
        <Button size="xs" variant="subtle" color="gray" onClick={() => dropTurn(inputId)}>
          {w.discard}
        </Button>
      </Group>
    </Alert>
  );
}

/** What the soul did, or would not do, when it was asked to. */
export function Deeds({ row }: { row: SpeechRow }) {
  const w = useWords(chatWords);
  const mood = useWords(moodWords);
  const answer = useTurnDetails(row).data?.answer;
  if (!answer) return null;
  const names = answer.intents
    .filter((intent) => answer.executed_skills.includes(intent.intent_id))
    .map((intent) => intent.intent_name);
  if (names.length) {
    return (
      <Badge className={c.badge} color="green" variant="light" leftSection={<IconBolt size={12} aria-hidden />}>
        {w.badgeDone(names.join(" · "))}
      </Badge>
    );
  }
  if (answer.stopped) return <div className={c.note}>{w.stopped}</div>;
  if (!wasRefused(answer)) return null;
  return (
    <Badge
      className={c.badge}
      color="red"
      variant="light"
      leftSection={<IconHandStop size={12} aria-hidden />}
      title={answer.gate.helps ? mood.helps(answer.gate.helps) : undefined}
      data-testid="refused"
    >
      {answer.gate.why ? w.badgeRefused(answer.gate.why) : w.badgeRefusedPlain}
    </Badge>
  );
}

/** Quietly: under the last answer, and under others for whoever looks at them. */
export function OfflineLabel({ row, isLast }: { row: SpeechRow; isLast: boolean }) {
  const w = useWords(chatWords);
  const answer = useTurnDetails(row).data?.answer;
  return answer?.voice === "offline" ? (
    <span className={c.offline} data-last={isLast || undefined}>
      {w.badgeOffline}
    </span>
  ) : null;
}
