/** New priorities for items that were put in another order. */

import { type Item, LEAST_PRIORITY, MOST_PRIORITY, RETIRES_BELOW } from "./profile";

/** Others are rather left as they are than the one that was moved. */
const COST_OF_OTHERS = 4;
/** Nothing should fade away only because something else was moved. */
const COST_OF_RETIRING = 40;

/**
 * The items with the one at `from` put to `to`, with as few and as small changes of priorities as that takes.
 * Null if the levels do not suffice: the server orders by priority, and equals by their time.
 */
export function reordered(items: Item[], from: number, to: number): Item[] | null {
  const moved = [...items];
  moved.splice(to, 0, ...moved.splice(from, 1));
  const levels = priorities(moved, to);
  return levels && moved.map((item, place) => ({ ...item, priority: levels[place]! }));
}

/** Falling priorities by which the server keeps exactly this order, the cheapest of all. */
export function priorities(items: Pick<Item, "priority" | "timestamp">[], moved: number): number[] | null {
  const best = items.map(() => new Map<number, { cost: number; above: number | null }>());
  items.forEach((item, place) => {
    for (let level = LEAST_PRIORITY; level <= MOST_PRIORITY; level++) {
      const above = place === 0 ? { cost: 0, above: null } : cheapestAbove(items, best, place, level);
      if (above) best[place]!.set(level, { cost: above.cost + costOf(item, level, place === moved), above: above.above });
    }
  });
  return walkedBack(best);
}

function costOf(item: Pick<Item, "priority">, level: number, isMoved: boolean): number {
  const fades = level < RETIRES_BELOW && item.priority >= RETIRES_BELOW;
  return Math.abs(level - item.priority) * (isMoved ? 1 : COST_OF_OTHERS) + (fades ? COST_OF_RETIRING : 0);
}

type Table = Map<number, { cost: number; above: number | null }>[];

function cheapestAbove(items: Pick<Item, "timestamp">[], best: Table, place: number, level: number) {
  const isNewer = (items[place - 1]!.timestamp ?? "") >= (items[place]!.timestamp ?? "");
  let cheapest: { cost: number; above: number } | null = null;
  for (const [above, { cost }] of best[place - 1]!) {
    const fits = above > level || (above === level && isNewer);
    if (fits && (!cheapest || cost < cheapest.cost)) cheapest = { cost, above };
  }
  return cheapest;
}

function walkedBack(best: Table): number[] | null {
  const levels: number[] = [];
  const last = [...(best.at(-1) ?? [])].sort(([, one], [, other]) => one.cost - other.cost)[0];
  let level: number | null | undefined = last?.[0];
  for (let place = best.length - 1; place >= 0; place--) {
    if (level == null) return null;
    levels.unshift(level);
    level = best[place]!.get(level)?.above;
  }
  return levels;
}
