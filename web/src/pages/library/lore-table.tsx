/** The entries of a lore. Only what is on the screen is drawn; rows are moved by their handles, also with keys. */

import { Checkbox } from "@mantine/core";
import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { useRef, useState } from "react";

import { Sortable } from "~/parts/sortable";
import { libraryWords } from "~/words/library";
import { useWords } from "~/words/words";
import styles from "./library.module.css";
import { LoreRow, nameOf } from "./lore-row";
import type { Titles } from "./lore-title";
import type { Lore } from "./wake";

const ROW = 52;

interface LoreTableProps {
  lore: Lore[];
  titles: Titles;
  chosen: ReadonlySet<string>;
  readOnly: boolean;
  mayOrder: boolean;
  onChosen: (chosen: ReadonlySet<string>) => void;
  onMove: (id: string, over: string) => void;
  onOpen: (entry: Lore) => void;
}

export function LoreTable({ lore, titles, chosen, readOnly, mayOrder, onChosen, onMove, onOpen }: LoreTableProps) {
  const w = useWords(libraryWords);
  const box = useRef<HTMLDivElement>(null);
  const [dragged, setDragged] = useState<string | null>(null);
  const draggedAt = lore.findIndex((entry) => entry.id === dragged);
  const rows = useVirtualizer({
    count: lore.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    overscan: 10,
    getItemKey: (at) => lore[at]?.id ?? at,
    // What is being dragged stays, however far the list is scrolled.
    rangeExtractor: (range) => [...new Set([...defaultRangeExtractor(range), ...(draggedAt < 0 ? [] : [draggedAt])])],
  });
  const entryName = (id: string) => {
    const entry = lore.find((one) => one.id === id);
    return entry ? nameOf(entry, titles(entry), w.noKeys) : "";
  };
  const move = (id: string, over: string) => {
    onMove(id, over);
    // Whoever moves it step by step goes on seeing it.
    rows.scrollToIndex(lore.findIndex((entry) => entry.id === over));
  };
  const choose = (id: string, on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(id);
    else next.delete(id);
    onChosen(next);
  };
  const all = lore.length > 0 && lore.every((entry) => chosen.has(entry.id));
  return (
    <Sortable ids={lore.map((entry) => entry.id)} nameOf={entryName} onMove={move} onDrag={setDragged}>
      <div role="table" aria-label={w.loreTable} aria-rowcount={lore.length + 1} className={styles.table}>
        <div role="row" className={styles.entry} data-head>
          <span role="columnheader">
            <span className="visually-hidden">{w.order}</span>
          </span>
          <span role="columnheader">
            {readOnly && <span className="visually-hidden">{w.selectAll}</span>}
            {!readOnly && (
              <Checkbox
                size="xs"
                aria-label={w.selectAll}
                checked={all}
                indeterminate={!all && chosen.size > 0}
                onChange={() => onChosen(all ? new Set() : new Set(lore.map((entry) => entry.id)))}
              />
            )}
          </span>
          <span role="columnheader">{`${w.keys} · ${w.content}`}</span>
          <span role="columnheader" className={styles.wide}>
            {w.state}
          </span>
          <span role="columnheader" className={styles.number}>
            {w.tokens}
          </span>
          <span role="columnheader" className={`${styles.number} ${styles.wide}`}>
            {w.priority}
          </span>
        </div>
        <div ref={box} role="rowgroup" className={styles.entries}>
          <div role="presentation" style={{ height: rows.getTotalSize(), position: "relative" }}>
            {rows.getVirtualItems().map((row) => {
              const entry = lore[row.index];
              if (!entry) return null;
              return (
                <LoreRow
                  key={row.key}
                  entry={entry}
                  title={titles(entry)[0]}
                  name={entryName(entry.id)}
                  top={row.start}
                  height={ROW}
                  place={row.index}
                  isChosen={chosen.has(entry.id)}
                  readOnly={readOnly}
                  mayOrder={mayOrder}
                  onChosen={(on) => choose(entry.id, on)}
                  onOpen={() => onOpen(entry)}
                />
              );
            })}
          </div>
        </div>
      </div>
    </Sortable>
  );
}
