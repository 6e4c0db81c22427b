/** A whole soul as a file: how it is read while it comes, and what it is called. */

export interface Progress {
  bytes: number;
  lines: number;
}

/** All pieces of a body, telling after each how much has come. */
export async function readWhole(
  body: ReadableStream<Uint8Array>,
  onProgress: (progress: Progress) => void,
): Promise<Uint8Array<ArrayBuffer>[]> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  const progress = { bytes: 0, lines: 0 };
  const reader = body.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    pieces.push(next.value as Uint8Array<ArrayBuffer>);
    progress.bytes += next.value.byteLength;
    progress.lines += next.value.reduce((count, byte) => count + (byte === 10 ? 1 : 0), 0);
    onProgress({ ...progress });
  }
  return pieces;
}

/** A name that every file system takes. */
export function fileName(soul: string, at: Date): string {
  const name = soul.replace(/[^\p{L}\p{N}_-]+/gu, "-").replace(/^-+|-+$/g, "") || "soul";
  return `${name}-${at.toISOString().slice(0, 10)}.jsonl`;
}
