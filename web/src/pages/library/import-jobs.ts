/** Files that were dropped or chosen, and what becomes of each. One is shown at a time. */

import { create } from "zustand";

import { askRaw, type Schemas } from "~/api/client";
import { keys, queryClient } from "~/api/queries";
import { kindOf } from "./classify";

export type Step =
  | { step: "reading" }
  | { step: "importing" }
  | { step: "card"; character: Schemas["ImportedCharacter"] }
  | { step: "lorebook" }
  | { step: "unknown" }
  | { step: "too-large" }
  | { step: "refused"; problem: unknown };

export type Job = Step & { id: number; file: File };

export const useImports = create<{ jobs: Job[] }>(() => ({ jobs: [] }));

let made = 0;

export function importFiles(files: readonly File[]): void {
  const jobs = files.map((file) => ({ id: ++made, file, step: "reading" as const }));
  useImports.setState((state) => ({ jobs: [...state.jobs, ...jobs] }));
  for (const job of jobs) void begin(job);
}

export function finish(id: number): void {
  useImports.setState((state) => ({ jobs: state.jobs.filter((job) => job.id !== id) }));
}

async function begin({ id, file }: Job): Promise<void> {
  try {
    const kind = await kindOf(file);
    if (kind !== "card") return next(id, { step: kind });
    next(id, { step: "importing" });
    const answer = await askRaw("v1/characters/import", { method: "POST", body: file });
    const character = (await answer.json()) as Schemas["ImportedCharacter"];
    void queryClient.invalidateQueries({ queryKey: keys.characters, exact: true });
    next(id, { step: "card", character });
  } catch (problem) {
    next(id, { step: "refused", problem });
  }
}

function next(id: number, step: Step): void {
  useImports.setState((state) => ({
    jobs: state.jobs.map((job) => (job.id === id ? { id, file: job.file, ...step } : job)),
  }));
}
