/** Words appear evenly, however unevenly they come. */

import { useReducedMotion } from "@mantine/hooks";
import { useEffect, useRef, useState } from "react";

/** A longer backlog is shown in larger steps, so that the screen is never far behind. */
const STEPS = 14;
const FRAME_MS = 1000 / 60;

/** How much of a text is shown next, never half of a character. Whoever draws few frames gets more with each. */
export function nextLength(text: string, shown: number, frames = 1): number {
  const step = Math.max(1, Math.ceil(((text.length - shown) * frames) / STEPS));
  const next = Math.min(text.length, shown + step);
  const low = text.charCodeAt(next);
  return low >= 0xdc00 && low <= 0xdfff ? next + 1 : next;
}

/** The part of a text that is on the screen. What was not spoken here is there at once. */
export function useTyped(text: string, speaking: boolean): string {
  const reduced = useReducedMotion();
  const typed = useRef(speaking);
  if (speaking) typed.current = true;
  const [shown, setShown] = useState(text.length);
  const all = reduced || !typed.current;
  useEffect(() => {
    if (all || shown === text.length) return;
    const began = performance.now();
    const frame = requestAnimationFrame(() => {
      const frames = Math.max(1, Math.round((performance.now() - began) / FRAME_MS));
      setShown(shown > text.length ? text.length : nextLength(text, shown, frames));
    });
    return () => cancelAnimationFrame(frame);
  }, [text, shown, all]);
  return all ? text : text.slice(0, shown);
}
