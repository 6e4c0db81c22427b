/** The lore of a preset. Every change sends the whole list, with the revision that it was made to. */

import { useMutation, useQueryClient } from "@tanstack/react-query";

import { api, ask, Problem } from "~/api/client";
import { showProblem } from "~/parts/problem";
import { libraryWords } from "~/words/library";
import { useWords } from "~/words/words";
import type { Kind } from "./fields";
import { keep, type Preset, readPreset } from "./queries";
import type { Lore } from "./wake";

export function useLore(kind: Kind, preset: Preset) {
  const w = useWords(libraryWords);
  const client = useQueryClient();
  const reread = async () => keep(client, kind, await readPreset(kind, preset.id));
  const put = useMutation({
    mutationFn: async (lore: Lore[]) => {
      const options = { params: { path: { preset_id: preset.id }, query: { revision: preset.revision } }, body: lore };
      await (kind === "characters"
        ? ask(api.PUT("/v1/characters/{preset_id}/lore", options))
        : ask(api.PUT("/v1/backgrounds/{preset_id}/lore", options)));
      await reread();
    },
    onError: (problem) => {
      const meanwhile = problem instanceof Problem && problem.code === "changed_meanwhile";
      showProblem(meanwhile ? w.changedReload : problem);
      if (meanwhile) void reread();
    },
  });
  return {
    /** What is being saved is shown as if it were. */
    lore: put.isPending ? put.variables : preset.lore,
    isSaving: put.isPending,
    /** Does nothing while another change is being saved; says whether it was. */
    save: async (lore: Lore[]): Promise<boolean> => {
      if (put.isPending) return false;
      return put.mutateAsync(lore).then(
        () => true,
        () => false,
      );
    },
  };
}

export type LoreState = ReturnType<typeof useLore>;
