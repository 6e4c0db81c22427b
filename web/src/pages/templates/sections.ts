/** The sections of a prompt, so that the one of a module can be shown. */

import type { Schemas } from "~/api/client";

export interface Section {
  /** Null for what stands before the first title. */
  title: string | null;
  text: string;
}

const TITLE = /^---(.+)---$/gm;

/** The text cut before each title; joined again it is the same. */
export function sectionsOf(text: string): Section[] {
  const titles = [...text.matchAll(TITLE)];
  const starts = titles.map((match) => match.index);
  const sections = titles.map((match, at) => ({
    title: match[1] ?? "",
    text: text.slice(match.index, starts[at + 1] ?? text.length),
  }));
  const before = text.slice(0, starts[0] ?? text.length);
  return before ? [{ title: null, text: before }, ...sections] : sections;
}

/** Whether a section is that of a module; one that is spoken in another language has another title and the same size. */
export function isSectionOf(section: Section, module: Schemas["ModuleOut"], titles: ReadonlySet<string>): boolean {
  if (section.title === null) return false;
  if (titles.has(module.name)) return section.title === module.name;
  return module.characters > 0 && [...section.text.trim()].length === module.characters;
}

/** Only the first and the last message have sections; the conversation between them is data. */
export function titlesOf(messages: readonly { content: string }[]): Set<string> {
  const ends = [messages[0], messages.at(-1)].flatMap((message) => (message ? sectionsOf(message.content) : []));
  return new Set(ends.flatMap((section) => section.title ?? []));
}
