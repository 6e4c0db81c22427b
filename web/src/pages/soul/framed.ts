/** The part of a history that is zoomed to, with its lines drawn up to its edges. */

export interface Moment {
  at: string;
  p: number;
  a: number;
  d: number;
  drift?: Record<string, number> | null;
}

/**
 * The points from `from` to `to` (epoch seconds), which were read for this part. Where the line comes in and goes out is
 * taken from `all`: a soul that was left alone for hours has no point there, but a line goes through.
 */
export function framed<Point extends Moment>(part: Point[], all: Point[], from: number, to: number): Moment[] {
  const inside = part.filter((point) => secondsOf(point) >= from && secondsOf(point) <= to);
  const known = [...all.filter((point) => !inside.some(({ at }) => at === point.at)), ...inside].sort(
    (one, other) => secondsOf(one) - secondsOf(other),
  );
  return [between(known, from), ...inside, between(known, to)].filter((point): point is Moment => point !== null);
}

/** Where the line between the neighbours is at a moment; null if it has a point there, or none on one of its sides. */
function between(points: Moment[], at: number): Moment | null {
  const next = points.findIndex((point) => secondsOf(point) >= at);
  const before = points[next - 1];
  const after = points[next];
  if (!before || !after || secondsOf(after) === at) return null;
  const share = (at - secondsOf(before)) / (secondsOf(after) - secondsOf(before));
  const mixed = (one: number, other: number) => one + share * (other - one);
  return {
    at: new Date(at * 1000).toISOString(),
    p: mixed(before.p, after.p),
    a: mixed(before.a, after.a),
    d: mixed(before.d, after.d),
    drift: mixedDrift(before.drift, after.drift, mixed),
  };
}

function mixedDrift(before: Moment["drift"], after: Moment["drift"], mixed: (one: number, other: number) => number) {
  if (!before || !after) return null;
  return Object.fromEntries(Object.entries(before).map(([trait, value]) => [trait, mixed(value, after[trait] ?? value)]));
}

const secondsOf = (point: { at: string }) => Date.parse(point.at) / 1000;
