/** What the robot says, and what is said to it over the broker. */

import { Text } from "@mantine/core";

import { useAccess } from "~/access";
import { SayForm } from "~/parts/say-form";
import { tell } from "~/robot/robot";
import { useRobot } from "~/robot/store";
import { robotWords } from "~/words/robot";
import { useWords } from "~/words/words";

import styles from "./talking.module.css";

export function SpeechBubble() {
  const w = useWords(robotWords);
  const bubble = useRobot(({ state }) => state.bubble);
  const thinks = useRobot(({ state }) => state.waiting.length > 0);
  return (
    <div role="status" aria-live="polite" className={styles.place}>
      {thinks && !bubble && (
        <div className={styles.bubble} aria-label={w.thinkingLabel}>
          {w.thinking}
        </div>
      )}
      {bubble && (
        <div className={styles.bubble} data-kind={bubble.kind} data-testid="robot-bubble">
          {bubble.text}
          {bubble.kind === "proactive" && (
            <Text span size="xs" c="dimmed" ml="xs">
              {w.spoke}
            </Text>
          )}
        </div>
      )}
    </div>
  );
}

export function RobotComposer() {
  const w = useWords(robotWords);
  const access = useAccess();
  const online = useRobot((robot) => robot.online);
  return (
    <SayForm label={w.say} hint={w.sayHint} send={w.send} heard={online} onSay={(text) => tell(text, access.person)} />
  );
}
