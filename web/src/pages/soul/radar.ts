/** The geometry of the trait radar: the first axis points up, the others follow clockwise. */

export interface Spot {
  x: number;
  y: number;
}

/** Where a value from 0 to 1 lies on its axis. */
export function spot(axis: number, axes: number, value: number, centre: Spot, radius: number): Spot {
  const angle = (2 * Math.PI * axis) / axes - Math.PI / 2;
  const reach = radius * Math.min(1, Math.max(0, value));
  return { x: rounded(centre.x + reach * Math.cos(angle)), y: rounded(centre.y + reach * Math.sin(angle)) };
}

/** The `points` of a polygon through all values. */
export function outline(values: number[], centre: Spot, radius: number): string {
  return values
    .map((value, axis) => spot(axis, values.length, value, centre, radius))
    .map(({ x, y }) => `${x},${y}`)
    .join(" ");
}

/** How a label at the end of an axis is anchored so that it lies outside of the figure. */
export function anchor({ x }: Spot, centre: Spot): "start" | "middle" | "end" {
  if (Math.abs(x - centre.x) < 1) return "middle";
  return x > centre.x ? "start" : "end";
}

/** The traits as they are now: those it was born with and their drift, each from 0 to 1. */
export function drifted(born: number[], drift: number[]): number[] {
  return born.map((value, trait) => Math.min(1, Math.max(0, value + (drift[trait] ?? 0))));
}

const rounded = (value: number) => Math.round(value * 100) / 100;
