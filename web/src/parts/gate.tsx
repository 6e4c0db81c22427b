/** Whether a soul would act, from which willingness on it does, why not, what would help, and for how long. */

import { Group, Stack, Text } from "@mantine/core";
import { useEffect, useState } from "react";

import type { Emotion } from "~/live/live";
import { usePreferences } from "~/preferences";
import { moodWords } from "~/words/mood";
import { useWords } from "~/words/words";

export function GateMeter({ gate, at }: { gate: Emotion["gate"]; at: string }) {
  const w = useWords(moodWords);
  const lang = usePreferences((state) => state.lang);
  const percent = Math.round(100 * gate.exec_probability);
  const threshold = Math.round(100 * gate.threshold);
  const acts = gate.exec_mode === "auto_execute";
  const color = acts ? "var(--pleasure)" : "#f87171";
  return (
    <Stack gap={4} data-testid="gate" data-mode={gate.exec_mode}>
      <Group justify="space-between">
        <Text size="sm" fw={600}>
          {w.gate}
        </Text>
        <Text size="sm" c={acts ? "var(--good)" : "var(--bad)"}>
          {acts ? w.wouldAct(percent) : w.wouldNotAct(percent)}
        </Text>
      </Group>
      <div
        role="meter"
        aria-label={w.gateLabel(percent, threshold)}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent}
        style={{ position: "relative", height: 10, borderRadius: 5, background: "var(--ground)" }}
      >
        <div style={{ width: `${percent}%`, height: "100%", borderRadius: 5, background: color, transition: "width 0.3s" }} />
        <div
          title={w.threshold}
          style={{ position: "absolute", left: `${threshold}%`, top: -3, bottom: -3, width: 2, background: "currentColor" }}
        />
      </div>
      <Countdown remaining={gate.lock_remaining_s} at={at} />
      {gate.why && (
        <Text size="sm" data-testid="gate-reason">
          {w.why(gate.why[lang])} {gate.helps && w.helps(gate.helps[lang])}
        </Text>
      )}
      <Text size="xs" c="dimmed">
        <abbr title={w.extremity}>z</abbr> {gate.z.toFixed(2)} → <abbr title={w.unborne}>zₙ</abbr> {gate.z_n.toFixed(2)} ·{" "}
        <abbr title={w.extremes}>m</abbr> {gate.m.toFixed(2)} · <abbr title={w.shocks}>s</abbr> {gate.s.toFixed(2)} ·{" "}
        {w.threshold} {gate.threshold.toFixed(2)}
      </Text>
    </Stack>
  );
}

/** Counts down between the ticks by itself. */
function Countdown({ remaining, at }: { remaining: number; at: string }) {
  const w = useWords(moodWords);
  const [left, setLeft] = useState(remaining);
  useEffect(() => {
    const heard = Date.now();
    setLeft(remaining);
    if (remaining <= 0) return;
    const clock = setInterval(() => setLeft(Math.max(0, remaining - (Date.now() - heard) / 1000)), 250);
    return () => clearInterval(clock);
  }, [remaining, at]);
  if (left <= 0) return null;
  return (
    <Text size="sm" fw={600} c="var(--bad)" role="timer" data-testid="lock" data-seconds={left.toFixed(0)}>
      🔒 {w.locked(clockTime(left))}
    </Text>
  );
}

/** 95 → 1:35 */
export function clockTime(seconds: number): string {
  const whole = Math.ceil(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
