/** Completion of variables while `{{` is being typed. */

import type { Schemas } from "~/api/client";
import type { Layer } from "./draft";

export type Variable = Schemas["VariableOut"];

const OPEN = /\{\{\s*(\w*)$/;
/** The end of a variable whose braces are closed already. */
const REST = /^\w*\s*\}\}/;

/** Where a variable begins that is being typed before the caret, and what of its name is there. */
export function openVariable(text: string, caret: number): { from: number; typed: string } | null {
  const match = OPEN.exec(text.slice(0, caret));
  return match ? { from: match.index, typed: match[1] ?? "" } : null;
}

/** The text with the variable that is being typed written out, and the caret behind it. */
export function completed(text: string, caret: number, name: string): { text: string; caret: number } {
  const open = openVariable(text, caret);
  const whole = `${text.slice(0, open?.from ?? caret)}{{${name}}}`;
  const rest = text.slice(caret);
  return { text: whole + (open ? rest.replace(REST, "") : rest), caret: whole.length };
}

export function fits(variable: Variable, layer: Layer): boolean {
  return variable.layer === 0 || variable.layer === layer;
}

/** The variables that could be meant: those that begin so first, and those of other layers last. */
export function candidates(variables: readonly Variable[], typed: string, layer: Layer): Variable[] {
  const wanted = typed.toLowerCase();
  const rank = (variable: Variable) => (fits(variable, layer) ? 0 : 2) + (variable.name.startsWith(wanted) ? 0 : 1);
  return variables
    .filter((variable) => variable.name.includes(wanted))
    .sort((one, other) => rank(one) - rank(other));
}
