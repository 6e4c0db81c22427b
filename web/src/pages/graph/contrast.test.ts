import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const styles = readFileSync(join(import.meta.dirname, "graph.module.css"), "utf-8");

/** A colour of the page, in the light and in the dark. */
function both(name: string): [string, string] {
  const found = new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(styles);
  return [found?.[1] ?? "", found?.[2] ?? ""];
}

function luminance(color: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light! + 0.05) / (dark! + 0.05);
}

/** The least contrast of the first colours on the second, in both themes. */
function least(drawn: string[], grounds: string[]): number {
  const pairs = drawn.flatMap((one) => grounds.map((other) => [both(one), both(other)] as const));
  return Math.min(...pairs.flatMap(([one, other]) => [contrast(one[0], other[0]), contrast(one[1], other[1])]));
}

it("draws lines and marks so that they are seen in both themes", () => {
  expect(least(["line"], ["canvas", "group", "node"])).toBeGreaterThanOrEqual(3);
  expect(least(["tint", "running", "failed"], ["canvas", "group", "node"])).toBeGreaterThanOrEqual(3);
  expect(least(["tint"], ["tinted"])).toBeGreaterThanOrEqual(3);
  expect(least(["running"], ["lit"])).toBeGreaterThanOrEqual(3);
  expect(least(["failed"], ["wrong"])).toBeGreaterThanOrEqual(3);
});

it("writes words so that they are read in both themes", () => {
  expect(least(["name", "note"], ["node", "group", "tinted", "lit", "wrong"])).toBeGreaterThanOrEqual(4.5);
});

it("has no other colours for what is drawn", () => {
  const drawn = styles.slice(styles.indexOf(".node {"), styles.indexOf(".legend {"));
  expect(drawn.match(/#\w{6}/g)).toEqual(["#353276", "#ffffff"]); // the outline of what is selected
});
