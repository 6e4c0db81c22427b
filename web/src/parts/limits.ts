/** How long texts may be, as the server counts: in characters, without the space around them. */

export function lengthOf(text: string): number {
  return [...text.trim()].length;
}

/** By how many characters a text is too long. */
export function excessOf(text: string, most: number): number {
  return Math.max(0, lengthOf(text) - most);
}
