/** The rows of a long list that are in sight, each at its place. */

import type { Virtualizer } from "@tanstack/react-virtual";
import type { HTMLAttributes, ReactNode } from "react";

interface VirtualRowsProps {
  virtual: Virtualizer<HTMLDivElement, Element>;
  role?: string;
  /** What the element of a row has, such as its role. */
  row?: (index: number) => HTMLAttributes<HTMLDivElement>;
  children: (index: number) => ReactNode;
}

export function VirtualRows({ virtual, role, row, children }: VirtualRowsProps) {
  return (
    <div role={role} style={{ position: "relative", width: "100%", height: virtual.getTotalSize() }}>
      {virtual.getVirtualItems().map(({ index, key, start }) => (
        <div
          key={key}
          ref={virtual.measureElement}
          data-index={index}
          style={{ position: "absolute", insetInline: 0, top: 0, transform: `translateY(${start}px)` }}
          {...row?.(index)}
        >
          {children(index)}
        </div>
      ))}
    </div>
  );
}
