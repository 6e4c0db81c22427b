/** A face that is drawn from pleasure, arousal and dominance alone, each of them from -1 to 1. */

import { useId } from "react";

interface FaceProps {
  p: number;
  a: number;
  d: number;
  size?: number;
  /** What it looks like, in words. */
  label: string;
}

/** Moods move; where a browser cannot animate a path, they jump. */
const MOVING = { transition: "d 0.5s, ry 0.5s" };

export function Face({ p, a, d, size = 96, label }: FaceProps) {
  const glow = useId();
  const { mouth, brows, eye, hue, lightness } = features(p, a, d);
  return (
    <svg
      viewBox="0 0 100 100"
      width={size}
      height={size}
      role="img"
      aria-label={label}
      data-face={`${p},${a},${d}`}
      style={{ flex: "none", filter: `drop-shadow(0 0 ${size / 14}px hsl(${hue} 75% 50% / 35%))` }}
    >
      <defs>
        <radialGradient id={glow}>
          <stop offset="70%" stopColor={`hsl(${hue} 75% ${lightness}%)`} />
          <stop offset="100%" stopColor={`hsl(${hue} 75% ${lightness - 12}%)`} />
        </radialGradient>
      </defs>
      <circle cx="50" cy="50" r="46" fill={`url(#${glow})`} />
      <g fill="none" stroke="#17181c" strokeWidth="4" strokeLinecap="round">
        <path d={brows.left} style={MOVING} />
        <path d={brows.right} style={MOVING} />
        <path d={mouth} fill={a > 0.45 ? "#17181c" : "none"} style={MOVING} />
      </g>
      <ellipse cx="35" cy="44" rx="5" ry={eye} fill="#17181c" style={MOVING} />
      <ellipse cx="65" cy="44" rx="5" ry={eye} fill="#17181c" style={MOVING} />
    </svg>
  );
}

/** Pleasure bends the mouth and warms the colour, arousal opens the eyes, dominance lowers the brows inwards. */
export function features(p: number, a: number, d: number) {
  const bend = 14 * p;
  const open = Math.max(0, a - 0.45) * 16;
  const width = 15 + 4 * Math.abs(p);
  const mouth = `M ${50 - width} ${70 - bend / 2} Q 50 ${70 + bend + open} ${50 + width} ${70 - bend / 2}${
    open ? ` Q 50 ${70 - bend / 2 - open / 2} ${50 - width} ${70 - bend / 2} Z` : ""
  }`;
  const height = 30 - 4 * a;
  // Displeasure slants the brows: inwards for anger, outwards for sorrow, and the way between is smooth.
  const slant = 4 * d - 5 * Math.min(0, p) * Math.max(-1, Math.min(1, 5 * d));
  return {
    mouth,
    brows: {
      left: `M 26 ${height - slant / 2} L 42 ${height + slant}`,
      right: `M 74 ${height - slant / 2} L 58 ${height + slant}`,
    },
    eye: Math.max(1.5, 5 + 3.5 * a),
    hue: Math.round(38 + 14 * p - (p < 0 ? 180 * -p * Math.max(0, -a) * 0.6 : 0)),
    lightness: Math.round(62 + 6 * p),
  };
}
