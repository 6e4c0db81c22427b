/** A list that draws only the rows that are seen, stays at its end while words come, and grows upwards in place. */

import { Button, Group } from "@mantine/core";
import { IconArrowDown, IconArrowUp } from "@tabler/icons-react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

import type { Row } from "~/pages/chat/rows";
import { Day, Speech } from "~/pages/chat/speech";
import { VirtualRows } from "~/parts/virtual-rows";
import { chatWords } from "~/words/chat";
import { useWords } from "~/words/words";
import c from "./chat.module.css";

/** From how far above the end on one has left it. */
const END_PX = 16;
/** So many rows before the first one that is known, older ones are read. */
const AHEAD = 20;

interface ListProps {
  rows: Row[];
  label: string;
  onNearTop: () => Promise<void>;
  /** Whether the first row is the first that there is. */
  isComplete: boolean;
  /** Read everything before the first row; whether that went well. */
  onFirst: () => Promise<boolean>;
}

export function RowList({ rows, label, onNearTop, isComplete, onFirst }: ListProps) {
  const w = useWords(chatWords);
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: (index) => estimateOf(rows[index]),
    getItemKey: useCallback((index: number) => rows[index]?.key ?? index, [rows]),
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: END_PX,
    overscan: 6,
    paddingStart: 8,
    paddingEnd: 12,
    scrollPaddingEnd: 12,
  });
  const items = virtual.getVirtualItems();
  const first = items[0]?.index ?? Number.POSITIVE_INFINITY;
  const atEnd = virtual.isAtEnd();
  const hasNews = useHasNews(rows, atEnd);
  useLayoutEffect(() => virtual.scrollToEnd(), [virtual]);
  useFollowOwnWords(rows, () => virtual.scrollToEnd());
  const toFirst = useToFirst(isComplete, onFirst, () => virtual.scrollToIndex(0, { align: "start" }));
  const home = (event: KeyboardEvent) => {
    if (event.key !== "Home" || event.target !== event.currentTarget) return;
    event.preventDefault();
    toFirst();
  };
  // Before it has come to its end it shows its first rows for a moment, though nobody reads them.
  const [hasBegun, setBegun] = useState(false);
  useEffect(() => {
    if (items.length && virtual.isAtEnd()) setBegun(true);
  }, [items, virtual]);
  useEffect(() => {
    if (hasBegun && first < AHEAD) void onNearTop();
  }, [hasBegun, first, rows.length, onNearTop]);
  return (
    <>
      <div
        className={c.list}
        ref={box}
        role="log"
        aria-label={label}
        // Whoever reads what was said before is not interrupted by rows that come into sight.
        aria-live={atEnd ? "polite" : "off"}
        aria-relevant="additions"
        tabIndex={0}
        onKeyDown={home}
      >
        <VirtualRows virtual={virtual} row={() => ({ className: c.row })}>
          {(index) => {
            const row = rows[index];
            if (!row) return null;
            return row.kind === "day" ? <Day at={row.at} /> : <Speech row={row} isLast={index === rows.length - 1} />;
          }}
        </VirtualRows>
      </div>
      {!atEnd && (
        <Group className={c.below} gap="xs" wrap="nowrap">
          {!(isComplete && first === 0) && (
            <Button
              size="xs"
              radius="xl"
              variant="default"
              leftSection={<IconArrowUp size={14} aria-hidden />}
              onClick={toFirst}
            >
              {w.toFirst}
            </Button>
          )}
          <Button
            size="xs"
            radius="xl"
            variant={hasNews ? "filled" : "default"}
            leftSection={<IconArrowDown size={14} aria-hidden />}
            onClick={() => virtual.scrollToEnd()}
          >
            {hasNews ? w.newBelow : w.toNewest}
          </Button>
        </Group>
      )}
    </>
  );
}

const LINE_PX = 23;
const CHARACTERS_A_LINE = 60;

/** Close enough that the scroll bar does not jump when a row is measured. */
function estimateOf(row: Row | undefined): number {
  if (!row || row.kind === "day") return 38;
  const lines = row.text.split("\n").reduce((sum, line) => sum + Math.ceil((line.length || 1) / CHARACTERS_A_LINE), 0);
  return 24 + LINE_PX * Math.min(lines, 200);
}

/** To the first of all rows, as soon as they are known. */
function useToFirst(isComplete: boolean, read: () => Promise<boolean>, scroll: () => void): () => void {
  const [wanted, setWanted] = useState(false);
  useEffect(() => {
    if (!wanted || !isComplete) return;
    scroll();
    setWanted(false);
  }, [wanted, isComplete, scroll]);
  return () => {
    setWanted(true);
    void read().then((isRead) => isRead || setWanted(false));
  };
}

/** Whether something was said since the end was left. */
function useHasNews(rows: Row[], atEnd: boolean): boolean {
  const last = rows.at(-1);
  const now = last?.kind === "speech" ? `${last.key} ${last.text.length}` : "";
  const seen = useRef(now);
  if (atEnd) seen.current = now;
  return seen.current !== now;
}

/** Whoever says something wants to see it, wherever they were reading. */
function useFollowOwnWords(rows: Row[], follow: () => void): void {
  const said = rows.findLast((row) => row.kind === "speech" && row.role === "user" && row.turn !== null)?.key;
  const before = useRef(said);
  useLayoutEffect(() => {
    if (said && said !== before.current) follow();
    before.current = said;
  }, [said, follow]);
}
