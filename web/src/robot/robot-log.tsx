/** What the robot has sent and received, the newest first. */

import { ScrollArea, Text } from "@mantine/core";

import { useRobot } from "~/robot/store";
import { robotWords } from "~/words/robot";
import { useWords } from "~/words/words";

import styles from "./robot-log.module.css";

const MOST = 100;

export function RobotLog({ height }: { height: number }) {
  const w = useWords(robotWords);
  const lines = useRobot((robot) => robot.lines);
  if (lines.length === 0) {
    return (
      <Text size="xs" c="dimmed">
        {w.logEmpty}
      </Text>
    );
  }
  return (
    <ScrollArea h={height} type="auto" viewportProps={{ tabIndex: 0, role: "region", "aria-label": w.log }}>
      <ol className={styles.lines}>
        {lines
          .slice(-MOST)
          .reverse()
          .map((line) => (
            <li key={line.n} className={styles.line} title={line.text}>
              <span className={styles.time}>{new Date(line.at).toLocaleTimeString("en-GB")}</span>
              <span aria-hidden>{line.direction === "out" ? "→" : "←"}</span>
              <span className="visually-hidden">{line.direction === "out" ? w.sent : w.received}</span>
              <b>{line.kind}</b>
              <code className={styles.text}>{line.text}</code>
            </li>
          ))}
      </ol>
    </ScrollArea>
  );
}
