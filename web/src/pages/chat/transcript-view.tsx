/** The talk of a conversation, from the newest page upwards. */

import { Center, Loader } from "@mantine/core";
import { useMemo } from "react";

import { useLive } from "~/live/live";
import { EmptyTalk } from "~/pages/chat/empty-talk";
import { useTranscriptNews } from "~/pages/chat/notices";
import { RowList } from "~/pages/chat/row-list";
import { liveRows, type Row, storedRows, takenBackFrom } from "~/pages/chat/rows";
import { type Scene, useScene } from "~/pages/chat/scene";
import { readToFirst, useTranscript } from "~/pages/chat/use-transcript";
import { ProblemNote } from "~/parts/problem";
import { chatWords } from "~/words/chat";
import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";
import c from "./chat.module.css";

export function TranscriptView() {
  const w = useWords(chatWords);
  const common = useWords(commonWords);
  const scene = useScene();
  const { rows, data, error, refetch, readOlder, isReadingOlder } = useRows(scene);
  useTranscriptNews(scene);
  if (!data) {
    return (
      <Center className={c.listBox} p="md">
        {error ? <ProblemNote problem={error} onRetry={() => void refetch()} /> : <Loader role="img" aria-label={common.loading} />}
      </Center>
    );
  }
  if (!rows.length) return <EmptyTalk />;
  return (
    <div className={c.listBox}>
      <RowList
        rows={rows}
        label={w.talk(scene.soul.name)}
        onNearTop={readOlder}
        isComplete={data.complete}
        onFirst={() => readToFirst(scene.session.session_id, scene.reader)}
      />
      {isReadingOlder && <Loader className={c.above} size="sm" role="img" aria-label={w.readingOlder} />}
    </div>
  );
}

function useRows({ session, reader }: Scene) {
  const sessionId = session.session_id;
  const transcript = useTranscript(sessionId, reader);
  const turns = useLive((state) => state.turns);
  const messages = useMemo(() => transcript.data?.messages ?? [], [transcript.data]);
  const running = Object.values(turns).filter((turn) => turn.message.session_id === sessionId);
  const takenBack = takenBackFrom(running);
  const complete = transcript.data?.complete ?? true;
  const stored = useMemo(() => storedRows(messages, takenBack, complete), [messages, takenBack, complete]);
  const live = liveRows(stored, messages, running);
  const rows: Row[] = live.length ? [...stored, ...live] : stored;
  return { ...transcript, rows };
}
