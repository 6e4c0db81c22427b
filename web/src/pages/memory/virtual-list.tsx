/** A long list of which only what is seen is drawn; its end asks for more. */

import { Loader, Text } from "@mantine/core";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useEffect, useRef } from "react";

import { VirtualRows } from "~/parts/virtual-rows";

import css from "./memory.module.css";

interface VirtualListProps<Item> {
  label: string;
  items: Item[];
  keyOf: (item: Item) => string | number;
  children: (item: Item) => ReactNode;
  /** Undefined if there is no more. */
  onEnd?: () => void;
  more?: string;
}

const GUESS = 76;

export function VirtualList<Item>({ label, items, keyOf, children, onEnd, more }: VirtualListProps<Item>) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => GUESS,
    getItemKey: (at) => keyOf(items[at]!),
    overscan: 8,
  });
  const last = virtual.getVirtualItems().at(-1)?.index ?? -1;
  const rowOf = (at: number) => ({
    className: css.place,
    role: "listitem",
    "aria-setsize": onEnd ? -1 : items.length,
    "aria-posinset": at + 1,
  });
  useEffect(() => {
    if (onEnd && last >= items.length - 1) onEnd();
  }, [last, items.length, onEnd]);
  return (
    <div ref={scroller} className={css.scroller} tabIndex={0} role="list" aria-label={label}>
      <VirtualRows virtual={virtual} role="presentation" row={rowOf}>
        {(at) => children(items[at]!)}
      </VirtualRows>
      {onEnd && (
        <Text size="xs" c="dimmed" role="presentation">
          <Loader size={12} aria-hidden /> {more}
        </Text>
      )}
    </div>
  );
}
