/** The catalog of a terminal while it is edited: what was reported, what was changed, and saving it. */

import { useMutation } from "@tanstack/react-query";
import { useMemo, useState } from "react";

import { api, ask, Problem } from "~/api/client";
import { keys, queryClient } from "~/api/queries";
import {
  catalogOf,
  draftsIn,
  draftsOf,
  type IntentDraft,
  NoCatalog,
  sameCatalog,
  textOf,
} from "~/pages/terminals/catalog";
import { type Mistake, mistakesIn } from "~/pages/terminals/catalog-mistakes";
import type { Terminal } from "~/pages/terminals/use-terminals";
import { showDone, showProblem } from "~/parts/problem";
import { usePreferences } from "~/preferences";
import { terminalWords } from "~/words/terminals";

export interface CatalogEdit {
  drafts: IntentDraft[];
  change: (drafts: IntentDraft[]) => void;
  mistakes: Mistake[];
  dirty: boolean;
  /** The version that the changes began with. */
  base: number;
  /** The version that the terminal has reported meanwhile; null if none. */
  newer: number | null;
  /** The text of the JSON view, and where it is no catalog. */
  text: string;
  write: (text: string) => void;
  problem: NoCatalog | null;
  discard: () => void;
  keepMine: () => void;
  save: () => void;
  saving: boolean;
}

interface Edit {
  drafts: IntentDraft[];
  base: number;
  text: string | null;
  problem: NoCatalog | null;
}

const CHANGED = "changed_meanwhile";

export function useCatalog(terminal: Terminal | undefined): CatalogEdit {
  const version = terminal?.catalog_version ?? 0;
  const reported = useMemo(() => draftsOf(terminal?.intent_catalog ?? []), [terminal?.intent_catalog]);
  const [edit, setEdit] = useState<Edit | null>(null);
  const drafts = edit?.drafts ?? reported;
  const base = edit?.base ?? version;
  const dirty = edit !== null && (edit.problem !== null || !sameCatalog(edit.drafts, reported));
  const mistakes = useMemo(() => mistakesIn(drafts), [drafts]);
  const saving = useSaving(terminal?.terminal_id ?? "", () => setEdit(null));
  return {
    drafts,
    change: (changed) => setEdit({ drafts: changed, base, text: null, problem: null }),
    mistakes,
    dirty,
    base,
    newer: dirty && version !== base ? version : null,
    text: edit?.text ?? textOf(drafts),
    write: (text) => setEdit(written(text, drafts, base)),
    problem: edit?.problem ?? null,
    discard: () => setEdit(null),
    keepMine: () => setEdit(edit && { ...edit, base: version }),
    save: () => saving.mutate({ base, drafts }),
    saving: saving.isPending,
  };
}

/** The last catalog that could be read stays while the text is none. */
function written(text: string, before: IntentDraft[], base: number): Edit {
  try {
    return { drafts: draftsIn(text), base, text, problem: null };
  } catch (error) {
    if (error instanceof NoCatalog) return { drafts: before, base, text, problem: error };
    throw error;
  }
}

function useSaving(terminalId: string, done: () => void) {
  const params = { path: { terminal_id: terminalId } };
  return useMutation({
    mutationFn: async ({ base, drafts }: { base: number; drafts: IntentDraft[] }) => {
      const now = await ask(api.GET("/v1/terminals/{terminal_id}", { params }));
      const w = terminalWords[usePreferences.getState().lang];
      if (now.catalog_version !== base) throw new Problem(409, CHANGED, w.catalog.changed(now.catalog_version));
      const body = { catalog_version: base + 1, intent_catalog: catalogOf(drafts) };
      return ask(api.PUT("/v1/terminals/{terminal_id}/intent-catalog", { params, body }));
    },
    onSuccess: (saved) => {
      queryClient.setQueryData<Terminal[]>([...keys.terminals], (all) =>
        all?.map((one) => (one.terminal_id === saved.terminal_id ? saved : one)),
      );
      done();
      showDone(terminalWords[usePreferences.getState().lang].catalog.saved);
    },
    onError: (problem) => {
      showProblem(problem);
      void queryClient.invalidateQueries({ queryKey: keys.terminals });
    },
  });
}
