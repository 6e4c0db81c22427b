/** The robot as it is seen: a face on a screen, an arm, and a lamp on its desk. */

import { useId } from "react";

import { features } from "~/parts/face";
import { type Body, COLOURS, type Gaze } from "~/robot/body";
import type { Mood } from "~/robot/hearing";

import styles from "./drawing.module.css";

const LOOKS: Record<Gaze, [number, number]> = {
  ahead: [0, 0],
  left: [-6, 0],
  right: [6, 0],
  up: [0, -5],
  down: [0, 5],
};

interface DrawingProps {
  body: Body;
  mood: Mood | null;
  label: string;
  asleep: boolean;
}

export function RobotDrawing({ body, mood, label, asleep }: DrawingProps) {
  return (
    <svg
      viewBox="0 0 300 190"
      className={styles.robot}
      role="img"
      aria-label={label}
      data-testid="robot"
      data-lamp={body.lamp ? body.colour : "off"}
      data-arm={body.arm}
      data-gaze={body.gaze}
      data-face={mood ? `${mood.p},${mood.a},${mood.d}` : ""}
    >
      <rect x="8" y="178" width="284" height="6" rx="3" className={styles.desk} />
      <Lamp body={body} />
      <g className={asleep ? styles.asleep : undefined}>
        <Torso />
        <Arm arm={body.arm} />
        <Head mood={mood} gaze={body.gaze} asleep={asleep} />
      </g>
    </svg>
  );
}

function Lamp({ body }: { body: Body }) {
  const glow = useId();
  const colour = COLOURS[body.colour];
  return (
    <g>
      <defs>
        <radialGradient id={glow}>
          <stop offset="0%" stopColor={colour} stopOpacity="0.85" />
          <stop offset="45%" stopColor={colour} stopOpacity="0.28" />
          <stop offset="100%" stopColor={colour} stopOpacity="0" />
        </radialGradient>
      </defs>
      <circle cx="62" cy="88" r="62" fill={`url(#${glow})`} className={body.lamp ? styles.glow : styles.dark} />
      <path d="M62 100 V172" className={styles.metal} />
      <path d="M40 176 Q62 164 84 176 Z" className={styles.foot} />
      <circle cx="62" cy="97" r="11" fill={body.lamp ? colour : "#4c5064"} className={styles.bulb} />
      <path d="M46 62 H78 L92 98 H32 Z" className={styles.shade} fill={body.lamp ? colour : "#5a5e73"} />
    </g>
  );
}

function Torso() {
  return (
    <g>
      <rect x="160" y="118" width="84" height="58" rx="20" className={styles.shell} />
      <rect x="194" y="104" width="16" height="20" className={styles.neck} />
      <circle cx="202" cy="147" r="7" className={styles.button} />
      <rect x="146" y="128" width="16" height="40" rx="8" className={styles.shell} />
    </g>
  );
}

function Arm({ arm }: { arm: Body["arm"] }) {
  return (
    <g className={styles.arm} data-arm={arm}>
      <rect x="242" y="124" width="16" height="46" rx="8" className={styles.shell} />
      <circle cx="250" cy="170" r="10" className={styles.hand} />
    </g>
  );
}

function Head({ mood, gaze, asleep }: { mood: Mood | null; gaze: Gaze; asleep: boolean }) {
  const { p, a, d } = mood ?? { p: 0, a: 0, d: 0 };
  const { mouth, brows, eye, hue } = features(p, a, d);
  const [x, y] = LOOKS[gaze];
  const ink = `hsl(${hue} 85% 68%)`;
  return (
    <g>
      <path d="M202 18 V6" className={styles.metal} />
      <circle cx="202" cy="6" r="4" fill={mood && !mood.acts ? "#f87171" : ink} />
      <rect x="146" y="16" width="112" height="92" rx="28" className={styles.shell} />
      <rect x="156" y="25" width="92" height="74" rx="20" className={styles.screen} />
      <g transform="translate(158 18) scale(0.88)">
        <g transform={`translate(${x} ${y})`} className={styles.look}>
          <g fill="none" stroke={ink} strokeWidth="4" strokeLinecap="round">
            <path d={brows.left} />
            <path d={brows.right} />
          </g>
          <ellipse cx="35" cy="46" rx="5.5" ry={asleep ? 1 : eye} fill={ink} />
          <ellipse cx="65" cy="46" rx="5.5" ry={asleep ? 1 : eye} fill={ink} />
        </g>
        <path d={mouth} fill={a > 0.45 ? ink : "none"} stroke={ink} strokeWidth="4" strokeLinecap="round" />
      </g>
    </g>
  );
}
