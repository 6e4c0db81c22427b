import { expect, it } from "vitest";

import { isSectionOf, sectionsOf, titlesOf } from "./sections";

const text = "before\n---Who---\nYou are.\n\n---Mode (x)---\nplain";

it("cuts a prompt at its titles and loses nothing", () => {
  const sections = sectionsOf(text);
  expect(sections.map((section) => section.title)).toEqual([null, "Who", "Mode (x)"]);
  expect(sections.map((section) => section.text).join("")).toBe(text);
});

it("finds the section of a module by its title, else by its size", () => {
  const titles = titlesOf([{ content: text }]);
  const [, who, mode] = sectionsOf(text);
  const module = (name: string, characters: number) => ({ name, characters, layer: 2, enabled: true, tokens: 1 });
  expect(isSectionOf(who!, module("Who", 3), titles)).toBe(true);
  expect(isSectionOf(mode!, module("Who", 3), titles)).toBe(false);
  expect(isSectionOf(who!, module("谁", 18), titles)).toBe(true);
  expect(isSectionOf(who!, module("谁", 0), titles)).toBe(false);
});
