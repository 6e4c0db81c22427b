/** Which module the server's objections are about. */

import { Problem } from "~/api/client";
import type { Draft } from "./draft";

export interface Mistakes {
  /** By the key of the module. */
  modules: Record<string, string[]>;
  /** About the template as a whole, or about something else that was sent. */
  others: string[];
}

const PLACE = /\bmodules\.(\d+)(?:\.(\w+))?/;
const TWICE = /^two modules are called (.+): rename one$/;
/** Only says that modules with mistakes were left out. */
const ECHO = /\bmodules$/;

/** `sent` is the draft that was refused: the places count its modules. */
export function mistakesOf(problem: unknown, sent: Draft): Mistakes {
  const mistakes: Mistakes = { modules: {}, others: [] };
  const errors = errorsOf(problem);
  for (const { where, message } of errors) {
    const keys = keysOf(where, message, sent);
    for (const key of keys) (mistakes.modules[key] ??= []).push(said(where, message));
    if (keys.length === 0 && !(ECHO.test(where) && errors.length > 1)) mistakes.others.push(message);
  }
  return mistakes;
}

export function hasMistakes(problem: unknown): boolean {
  return problem instanceof Problem && problem.status === 422;
}

function errorsOf(problem: unknown): { where: string; message: string }[] {
  if (!(problem instanceof Problem)) return [];
  const errors = problem.more.errors;
  if (Array.isArray(errors)) return errors as { where: string; message: string }[];
  return [{ where: "", message: problem.detail }];
}

function keysOf(where: string, message: string, sent: Draft): string[] {
  const place = PLACE.exec(where);
  if (place) return sent.modules.slice(Number(place[1]), Number(place[1]) + 1).map((module) => module.key);
  const twice = TWICE.exec(message)?.[1];
  return twice ? sent.modules.filter((module) => plain(module.name) === plain(twice)).map((module) => module.key) : [];
}

function said(where: string, message: string): string {
  const field = PLACE.exec(where)?.[2];
  return field ? `${field}: ${message}` : message;
}

function plain(name: string): string {
  return name.toLowerCase().split(/\s+/).filter(Boolean).join(" ");
}
