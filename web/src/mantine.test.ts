import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const SOURCE = import.meta.dirname;
const STYLES = join(SOURCE, "..", "node_modules", "@mantine", "core", "styles");
const FIRST = ["main.tsx", "pages/chat/chat.tsx", "robot/robot-panel.tsx"];

const read = (name: string) => readFileSync(join(SOURCE, name), "utf-8");

/** The components that a file imports and that have styles. */
function styledIn(name: string): string[] {
  const lists = [...read(name).matchAll(/import \{([^}]*)\} from "@mantine\/core"/g)];
  const names = lists.flatMap((list) => list[1]!.split(",").map((one) => one.trim().split(" as ")[0]!));
  return names.filter((one) => existsSync(join(STYLES, `${one}.css`)));
}

/** A file with everything that comes along with it. */
function together(name: string, known = new Set<string>()): Set<string> {
  if (known.has(name)) return known;
  known.add(name);
  const imported = [...read(name).matchAll(/(?:^import|^\} from|^export).*?"(~\/|\.\/)([\w/-]+)";$/gm)];
  for (const [whole, root, path] of imported) {
    const base = root === "~/" ? path! : join(name, "..", path!);
    const file = [`${base}.tsx`, `${base}.ts`].find((one) => existsSync(join(SOURCE, one)));
    if (file && !whole.startsWith("import type")) together(file, known);
  }
  return known;
}

const without = (styles: string, names: Iterable<string>) =>
  [...new Set(names)].filter((name) => !styles.includes(`/${name}.css`));

it("has the styles of every component that a page imports", () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: "utf-8" }).filter((name) => name.endsWith(".tsx"));
  const styled = files.flatMap(styledIn);
  expect(new Set(styled).size).toBeGreaterThan(20);
  expect(without(read("mantine.ts") + read("mantine-more.ts") + read("parts/corner-notes.tsx"), styled)).toEqual([]);
});

it("has the styles of the first page at once", () => {
  const files = [...new Set(FIRST.flatMap((name) => [...together(name)]))];
  expect(files).toContain("pages/chat/composer.tsx");
  expect(without(read("mantine.ts"), files.filter((name) => name.endsWith(".tsx")).flatMap(styledIn))).toEqual([]);
});
