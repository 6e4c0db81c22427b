/** Say something to the soul from here, to watch what it does with it. */

import { Stack, Text } from "@mantine/core";
import { useEffect, useState } from "react";

import { useAccess } from "~/access";
import type { Schemas } from "~/api/client";
import { dropTurn, say, useLive } from "~/live/live";
import { SayForm } from "~/parts/say-form";
import { usePreferences } from "~/preferences";
import { useRobot } from "~/robot/store";
import { graphWords } from "~/words/graph";
import { sentenceOf } from "~/words/problems";
import { useWords } from "~/words/words";

import styles from "./graph.module.css";

export function GraphComposer({ soul }: { soul: Schemas["SoulOut"] }) {
  const w = useWords(graphWords);
  const access = useAccess();
  const terminalId = useRobotOf(soul.soul_id);
  const [inputId, setInputId] = useState<string | null>(null);
  const send = (text: string) =>
    setInputId(say({ soul_id: soul.soul_id, user_id: access.person, terminal_id: terminalId, text }));
  return (
    <section className="panel" aria-label={w.say(soul.name)}>
      <Stack gap="xs">
        <SayForm label={w.say(soul.name)} hint={w.sayHint} send={w.send} onSay={send} />
        {terminalId && (
          <Text size="xs" c="dimmed">
            {w.saidAt(terminalId)}
          </Text>
        )}
        <Reply inputId={inputId} soul={soul.name} />
      </Stack>
    </section>
  );
}

/** The robot of this page, if it carries the soul: then what is asked for can be done. */
function useRobotOf(soulId: string): string | undefined {
  return useRobot(({ online, terminalId, state }) => (online && state.soulId === soulId ? terminalId : undefined));
}

/** A turn is dropped once the transcript has it; its last words stay here. */
function Reply({ inputId, soul }: { inputId: string | null; soul: string }) {
  const w = useWords(graphWords);
  const lang = usePreferences((state) => state.lang);
  const turn = useLive((state) => (inputId ? state.turns[inputId] : undefined));
  const [reply, setReply] = useState("");
  useEffect(() => setReply(""), [inputId]);
  useEffect(() => {
    if (turn) setReply(turn.problem ? sentenceOf(turn.problem, lang) : turn.reply);
    if (turn?.phase === "failed" && inputId) dropTurn(inputId);
  }, [turn, inputId, lang]);
  return (
    <div role="log" aria-label={w.reply(soul)} data-testid="graph-reply">
      {turn && !reply && (
        <div className={styles.reply} aria-label={w.waitingLabel}>
          {w.waiting}
        </div>
      )}
      {reply && <div className={styles.reply}>{reply}</div>}
    </div>
  );
}
