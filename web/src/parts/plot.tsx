/** Lines over time or over anything else, with their numbers as a table for those who do not see them. */

import "uplot/dist/uPlot.min.css";

import { useComputedColorScheme } from "@mantine/core";
import { type CSSProperties, Suspense, useEffect, useRef, useState } from "react";
import uPlot from "uplot";

import { later } from "~/later";
import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";

const NumbersTable = later(async () => (await import("~/parts/plot-numbers")).NumbersTable);

export interface Line {
  label: string;
  color: string;
  values: (number | null)[];
  dash?: number[];
  width?: number;
  /** Draw the points only, such as for marks. */
  points?: boolean;
}

interface PlotProps {
  label: string;
  /** Epoch seconds if `time`, else any rising numbers. */
  xs: number[];
  lines: Line[];
  time?: boolean;
  height?: number;
  range?: [number, number];
  /** Drag to zoom, double click to see everything again. */
  zoom?: boolean;
  legend?: boolean;
  xLabel?: (x: number) => string;
  /** Told of the part that is shown after a zoom. */
  onZoom?: (from: number, to: number) => void;
}

const SMALLEST = 40;

function useWidth(box: HTMLDivElement | null): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (!box) return;
    const observer = new ResizeObserver(() => setWidth(Math.floor(box.clientWidth)));
    observer.observe(box);
    return () => observer.disconnect();
  }, [box]);
  return width;
}

export function Plot({ label, xs, lines, height = 180, ...options }: PlotProps) {
  const [box, setBox] = useState<HTMLDivElement | null>(null);
  const width = useWidth(box);
  const scheme = useComputedColorScheme("dark");
  const plot = useRef<uPlot | null>(null);
  const shape = JSON.stringify([lines.map(({ values: _, ...line }) => line), options.range, options.time, height]);
  useEffect(() => {
    if (!box || width < SMALLEST) return;
    const ink = getComputedStyle(box).color;
    plot.current = new uPlot(optionsOf(lines, width, height, ink, options), dataOf(xs, lines), box);
    return () => {
      plot.current?.destroy();
      plot.current = null;
    };
  }, [shape, box, width >= SMALLEST, scheme]);
  useEffect(() => {
    if (width >= SMALLEST) plot.current?.setSize({ width, height });
  }, [width, height]);
  useEffect(() => plot.current?.setData(dataOf(xs, lines)), [xs, lines]);
  return (
    <figure style={{ margin: 0 }}>
      <div ref={setBox} role="img" aria-label={label} style={frameOf(height)} />
      <Numbers label={label} xs={xs} lines={lines} {...options} />
    </figure>
  );
}

/** A canvas knows no variables: it is drawn in the colour that the box has. */
function frameOf(height: number): CSSProperties {
  return { minHeight: height, width: "100%", overflow: "hidden", color: "var(--dimmed)" };
}

function Numbers({ label, xs, lines, time, xLabel }: Omit<PlotProps, "height">) {
  const w = useWords(commonWords);
  const [open, setOpen] = useState(false);
  const shown = (x: number) => xLabel?.(x) ?? (time ? new Date(x * 1000).toLocaleString() : String(x));
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)} style={{ fontSize: 12, color: "var(--dimmed)" }}>
      <summary style={{ cursor: "pointer" }}>{w.hereIsNumbers}</summary>
      <Suspense>{open && <NumbersTable label={label} xs={xs} lines={lines} shown={shown} />}</Suspense>
    </details>
  );
}

/** As exact as the ticks are apart: seconds, minutes, or days. */
function timeLabels(_: uPlot, ticks: number[], _axis: number, _space: number, step: number): string[] {
  const two = (n: number) => String(n).padStart(2, "0");
  return ticks.map((tick) => {
    const at = new Date(tick * 1000);
    const clock = `${two(at.getHours())}:${two(at.getMinutes())}`;
    if (step >= 86_400) return `${at.getMonth() + 1}/${at.getDate()}`;
    return step < 60 ? `${clock}:${two(at.getSeconds())}` : clock;
  });
}

function dataOf(xs: number[], lines: Line[]): uPlot.AlignedData {
  return [xs, ...lines.map((line) => line.values)] as uPlot.AlignedData;
}

function optionsOf(lines: Line[], width: number, height: number, ink: string, options: Partial<PlotProps>): uPlot.Options {
  const { range, time = false, zoom = false, legend = false, xLabel, onZoom } = options;
  const grid = { stroke: "rgba(128, 128, 140, 0.18)", width: 1 };
  const axis = { stroke: ink, grid, ticks: grid, font: "11px system-ui" };
  const labelOf = xLabel ? (_: uPlot, ticks: number[]) => ticks.map(xLabel) : time ? timeLabels : undefined;
  return {
    width,
    height,
    legend: { show: legend, live: false },
    cursor: { drag: { x: zoom, y: false }, points: { size: 6 } },
    scales: { x: { time }, y: range ? { range: () => range } : {} },
    axes: [
      { ...axis, size: 28, space: 56, ...(labelOf && { values: labelOf }) },
      { ...axis, size: 50 },
    ],
    series: [
      {},
      ...lines.map((line) => ({
        label: line.label,
        stroke: line.color,
        width: line.points ? 0 : (line.width ?? 1.75),
        dash: line.dash,
        points: { show: line.points ?? false, size: 7, fill: line.color },
        spanGaps: true,
      })),
    ],
    hooks: onZoom
      ? {
          setScale: [
            (plot, scale) => {
              const { min, max } = plot.scales.x ?? {};
              if (scale === "x" && min != null && max != null) onZoom(min, max);
            },
          ],
        }
      : {},
  };
}
