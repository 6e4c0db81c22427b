/** What is different between two texts, word by word; Chinese is cut into words as well, by `Intl.Segmenter`. */

export interface DiffPart {
  kind: "same" | "added" | "removed";
  text: string;
}

/** Above so many cells the table would take too long: whole sentences are compared instead. */
const MOST_CELLS = 4_000_000;

export function diff(before: string, after: string): DiffPart[] {
  const words = compared(pieces(before, "word"), pieces(after, "word"));
  return words ?? compared(pieces(before, "sentence"), pieces(after, "sentence")) ?? replaced(before, after);
}

function replaced(before: string, after: string): DiffPart[] {
  return joined([
    { kind: "removed", text: before },
    { kind: "added", text: after },
  ]);
}

export function pieces(text: string, granularity: "word" | "sentence"): string[] {
  return Array.from(new Intl.Segmenter("zh", { granularity }).segment(text), ({ segment }) => segment);
}

/** Null if there is too much to compare. What both begin and end with is set aside first. */
function compared(before: string[], after: string[]): DiffPart[] | null {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let tail = 0;
  const shorter = Math.min(before.length, after.length) - head;
  while (tail < shorter && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const old = before.slice(head, before.length - tail);
  const young = after.slice(head, after.length - tail);
  if (old.length * young.length > MOST_CELLS) return null;
  return joined([
    { kind: "same", text: before.slice(0, head).join("") },
    ...walked(old, young),
    { kind: "same", text: before.slice(before.length - tail).join("") },
  ]);
}

/** The longest common subsequence, walked from the beginning. */
function walked(old: string[], young: string[]): DiffPart[] {
  const lengths = common(old, young);
  const width = young.length + 1;
  const parts: DiffPart[] = [];
  let i = 0;
  let j = 0;
  while (i < old.length || j < young.length) {
    if (i < old.length && j < young.length && old[i] === young[j]) {
      parts.push({ kind: "same", text: old[i++]! });
      j++;
    } else if (j >= young.length || (i < old.length && lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!)) {
      parts.push({ kind: "removed", text: old[i++]! });
    } else {
      parts.push({ kind: "added", text: young[j++]! });
    }
  }
  return parts;
}

/** How long the common subsequence of the rests from (i, j) on is. */
function common(old: string[], young: string[]): Uint32Array {
  const width = young.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = young.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        old[i] === young[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!);
    }
  }
  return lengths;
}

/** Neighbours of one kind become one part; between two that are the same, what went comes before what came. */
function joined(parts: DiffPart[]): DiffPart[] {
  const found: DiffPart[] = [];
  let removed = "";
  let added = "";
  const flush = () => {
    if (removed) found.push({ kind: "removed", text: removed });
    if (added) found.push({ kind: "added", text: added });
    removed = added = "";
  };
  for (const { kind, text } of parts) {
    if (!text) continue;
    if (kind === "removed") removed += text;
    else if (kind === "added") added += text;
    else {
      flush();
      const last = found.at(-1);
      if (last?.kind === "same") last.text += text;
      else found.push({ kind, text });
    }
  }
  flush();
  return found;
}
