/** How a soul feels now: face, words, bars, lines that move with every tick, and the gate with its reason. */

import { Group, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";

import { api, ask } from "~/api/client";
import { keys } from "~/api/queries";
import { type Emotion, type MoodPoint, listen, useLive } from "~/live/live";
import { Axes, useAxisLines } from "~/parts/axes";
import { GateMeter } from "~/parts/gate";
import { Plot } from "~/parts/plot";
import { Portrait } from "~/parts/portrait";
import { usePreferences } from "~/preferences";
import { moodWords } from "~/words/mood";
import { useWords } from "~/words/words";

/** How many parts of the screen listen to each soul: the last one that goes ends it. */
const listeners = new Map<string, number>();

function listenTogether(soulId: string, userId: string | undefined): () => void {
  const stop = listen({ soul_id: soulId, user_id: userId });
  listeners.set(soulId, (listeners.get(soulId) ?? 0) + 1);
  return () => {
    const left = (listeners.get(soulId) ?? 1) - 1;
    listeners.set(soulId, left);
    if (left === 0) stop();
  };
}

/** The emotion of a soul as it moves. Whoever uses it listens to the soul for as long as it is on the screen. */
export function useEmotion(soulId: string | null, userId?: string): Emotion | undefined {
  useEffect(() => (soulId ? listenTogether(soulId, userId) : undefined), [soulId, userId]);
  const live = useLive((state) => (soulId ? state.emotions[soulId] : undefined));
  const read = useQuery({
    queryKey: keys.soul(soulId ?? "", "emotion"),
    queryFn: () => ask(api.GET("/v1/souls/{soul_id}/emotion", { params: { path: { soul_id: soulId! } } })),
    enabled: soulId !== null && !live,
  });
  return live ?? read.data;
}

export function MoodPanel({ soulId, userId }: { soulId: string; userId?: string }) {
  const w = useWords(moodWords);
  const lang = usePreferences((state) => state.lang);
  const emotion = useEmotion(soulId, userId);
  if (!emotion) return <Text c="dimmed">{w.unknown}</Text>;
  const mood = emotion.mood[lang];
  return (
    <section className="panel" aria-label={w.title} data-testid="mood">
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h5">
            {w.title}
          </Title>
          <Text fw={600} size="sm" data-testid="mood-words">
            {mood}
          </Text>
        </Group>
        <Group wrap="nowrap" gap="md">
          <Portrait soulId={soulId} emotion={emotion} size={88} />
          <Axes of={emotion.soul_emotion} />
        </Group>
        <MoodLines soulId={soulId} />
        <GateMeter gate={emotion.gate} at={emotion.at} />
      </Stack>
    </section>
  );
}

const SHOWN_S = 600;

function MoodLines({ soulId }: { soulId: string }) {
  const w = useWords(moodWords);
  const moving = useLive((state) => state.moods[soulId]);
  const [since] = useState(() => Date.now() / 1000 - SHOWN_S);
  const query = { since: String(since), points: 120 };
  const past = useQuery({
    queryKey: keys.soul(soulId, "recent-mood", since),
    queryFn: () =>
      ask(api.GET("/v1/souls/{soul_id}/emotion/history", { params: { path: { soul_id: soulId }, query } })),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const points = useMemo(() => joined(past.data?.points ?? [], moving ?? []), [past.data, moving]);
  const xs = useMemo(() => points.map((point) => point.at), [points]);
  const lines = useAxisLines(points);
  return <Plot label={w.lines} xs={xs} lines={lines} time height={120} range={[-1, 1]} />;
}

/** What was stored before the page was opened, then what was heard since. */
function joined(past: { at: string; p: number; a: number; d: number }[], moving: MoodPoint[]) {
  const begin = moving[0]?.at ?? Number.POSITIVE_INFINITY;
  const stored = past.map(({ at, p, a, d }) => ({ at: Date.parse(at) / 1000, p, a, d }));
  return [...stored.filter((point) => point.at < begin), ...moving];
}
