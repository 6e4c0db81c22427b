/** The robot while it is switched on: what it looks like, does, says and hears. */

import { Group, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { askRaw } from "~/api/client";
import { useLive } from "~/live/live";
import { usePreferences } from "~/preferences";
import { bodySentences, deedSentence, moodSentence } from "~/robot/describing";
import { RobotDrawing } from "~/robot/drawing";
import { RobotLog } from "~/robot/robot-log";
import { useRobot } from "~/robot/store";
import { RobotComposer, SpeechBubble } from "~/robot/talking";
import { robotWords } from "~/words/robot";
import { useWords } from "~/words/words";

export function RobotBody({ compact }: { compact: boolean }) {
  const w = useWords(robotWords);
  const { state, online, lines } = useRobot();
  const lang = usePreferences((preferences) => preferences.lang);
  const words = useLive((live) => (state.soulId ? live.emotions[state.soulId]?.mood[lang] : undefined));
  const mood = moodSentence(w, state.mood, words);
  const sentences = bodySentences(w, state.body);
  const deeds = deedSentence(w, state.deeds);
  return (
    <Stack gap="xs">
      <BrokerNote />
      <SpeechBubble />
      <RobotDrawing
        body={state.body}
        mood={state.mood}
        asleep={!online}
        label={w.drawing([...sentences, mood].join(". "))}
      />
      <Text size="sm" role="status" data-testid="robot-state">
        {sentences.join(" · ")}
      </Text>
      <Group gap={6} justify="space-between">
        <Text size="xs" c="dimmed">
          {mood}
        </Text>
        {state.mood && <Willing acts={state.mood.acts} probability={state.mood.probability} />}
      </Group>
      {deeds && (
        <Text size="xs" c="dimmed" role="status">
          {deeds}
        </Text>
      )}
      {state.problem && (
        <Text size="xs" c="var(--bad)" role="alert">
          {state.problem}
        </Text>
      )}
      <RobotComposer />
      <details open={!compact}>
        <summary style={{ cursor: "pointer", fontSize: 12, color: "var(--dimmed)" }}>{w.logShow(lines.length)}</summary>
        <RobotLog height={compact ? 130 : 220} />
      </details>
    </Stack>
  );
}

function Willing({ acts, probability }: { acts: boolean; probability: number }) {
  const w = useWords(robotWords);
  const percent = Math.round(100 * probability);
  return (
    <Text size="xs" c={acts ? "var(--good)" : "var(--bad)"}>
      {acts ? w.wouldAct(percent) : w.wouldNotAct(percent)}
    </Text>
  );
}

/** A refused connection has no reason that a page could read; the server says elsewhere whether it has a broker. */
function BrokerNote() {
  const w = useWords(robotWords);
  const connection = useRobot((robot) => robot.connection);
  const ready = useQuery({
    queryKey: ["readyz"],
    queryFn: async () => (await (await askRaw("readyz")).json()) as { broker?: unknown },
    enabled: connection === "down",
  });
  if (connection !== "down" || !ready.data || ready.data.broker) return null;
  return (
    <Text size="sm" c="var(--bad)" role="alert">
      {w.noBroker}
    </Text>
  );
}
