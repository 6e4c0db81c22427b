/** The lines of the log, the newest at the end. Only those on the screen are drawn. */

import { ActionIcon, Button, Tooltip, UnstyledButton } from "@mantine/core";
import { IconChevronDown, IconChevronRight, IconRepeat } from "@tabler/icons-react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useLayoutEffect, useRef, useState } from "react";

import { useAccess } from "~/access";
import type { LogLine } from "~/pages/terminals/log-lines";
import { resend } from "~/pages/terminals/log-store";
import { JsonTree } from "~/parts/json-tree";
import { showDone, showProblem } from "~/parts/problem";
import { VirtualRows } from "~/parts/virtual-rows";
import { jsonOf, SAID } from "~/robot/topics";
import { terminalWords } from "~/words/terminals";
import { useWords } from "~/words/words";

import styles from "./log-rows.module.css";

const NEAR = 40;

export function LogRows({ lines }: { lines: LogLine[] }) {
  const w = useWords(terminalWords).log;
  const box = useRef<HTMLDivElement>(null);
  const [following, setFollowing] = useState(true);
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => 30,
    getItemKey: (index) => lines[index]?.n ?? index,
    overscan: 12,
  });
  const newest = lines.at(-1)?.n;
  const height = rows.getTotalSize();
  useLayoutEffect(() => {
    if (following && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [newest, following, height]);
  const scrolled = () => {
    const { scrollTop, scrollHeight, clientHeight } = box.current!;
    setFollowing(scrollHeight - scrollTop - clientHeight < NEAR);
  };
  const toggle = (n: number) => setOpened((before) => toggled(before, n));
  return (
    <div className={styles.place}>
      <div ref={box} className={styles.box} onScroll={scrolled} tabIndex={0} role="region" aria-label={w.title}>
        <VirtualRows virtual={rows} role="list" row={() => ({ role: "listitem" })}>
          {(index) => {
            const line = lines[index]!;
            return <Row line={line} opened={opened.has(line.n)} onToggle={() => toggle(line.n)} />;
          }}
        </VirtualRows>
      </div>
      {!following && (
        <Button size="compact-xs" className={styles.follow} onClick={() => setFollowing(true)}>
          {w.follow}
        </Button>
      )}
    </div>
  );
}

function toggled(set: ReadonlySet<number>, n: number): Set<number> {
  const changed = new Set(set);
  if (!changed.delete(n)) changed.add(n);
  return changed;
}

function Row({ line, opened, onToggle }: { line: LogLine; opened: boolean; onToggle: () => void }) {
  const w = useWords(terminalWords).log;
  const { isOwner } = useAccess();
  const json = opened ? jsonOf(line.payload) : undefined;
  const Chevron = opened ? IconChevronDown : IconChevronRight;
  const again = () => resend(line).then(() => showDone(w.resent), showProblem);
  return (
    <>
      <div className={styles.line}>
        <UnstyledButton
          className={styles.open}
          aria-expanded={opened}
          aria-label={w.expand(line.kind)}
          onClick={onToggle}
        >
          <Chevron size={13} aria-hidden />
        </UnstyledButton>
        <span className={styles.time}>{new Date(line.at).toLocaleTimeString("en-GB")}</span>
        <span className={styles.terminal}>{line.terminalId}</span>
        <b className={styles.kind}>{line.kind}</b>
        <code className={styles.payload}>{line.payload}</code>
        {line.retained && <span className={styles.time}>{w.retained}</span>}
        {(isOwner || SAID.includes(line.kind)) && (
          <Tooltip label={w.resend(line.kind)} openDelay={300}>
            <ActionIcon
              size="sm"
              variant="subtle"
              color="gray"
              aria-label={w.resend(line.kind)}
              onClick={() => void again()}
            >
              <IconRepeat size={14} aria-hidden />
            </ActionIcon>
          </Tooltip>
        )}
      </div>
      {opened && (
        <div className={styles.tree}>
          <div className={styles.time}>{line.topic}</div>
          {json ? <JsonTree value={json} open={2} /> : <code>{line.payload}</code>}
        </div>
      )}
    </>
  );
}
