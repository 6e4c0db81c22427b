/** The lore of a preset. Every change sends the whole list, with the revision that it was made to. */

import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";

import { api, ask, Problem } from "~/api/client";
import { showProblem } from "~/parts/problem";
import { usePreferences } from "~/preferences";
import { libraryWords } from "~/words/library";
import type { Kind } from "./fields";
import { oneByOne } from "./one-by-one";
import { keep, type Preset, readPreset } from "./queries";
import type { Lore } from "./wake";

export function useLore(kind: Kind, preset: Preset) {
  const client = useQueryClient();
  const [wanted, setWanted] = useState<Lore[] | null>(null);
  const revision = useRef(preset.revision);
  if (!wanted) revision.current = preset.revision;
  const reread = async () => {
    const stored = await readPreset(kind, preset.id);
    revision.current = stored.revision;
    keep(client, kind, stored);
  };
  const put = async (lore: Lore[]) => {
    const options = { params: { path: { preset_id: preset.id }, query: { revision: revision.current } }, body: lore };
    await (kind === "characters"
      ? ask(api.PUT("/v1/characters/{preset_id}/lore", options))
      : ask(api.PUT("/v1/backgrounds/{preset_id}/lore", options)));
    await reread();
  };
  const failed = (problem: unknown) => {
    const meanwhile = problem instanceof Problem && problem.code === "changed_meanwhile";
    showProblem(meanwhile ? libraryWords[usePreferences.getState().lang].changedReload : problem);
    if (meanwhile) void reread().catch(showProblem);
    return false;
  };
  const [saveNext] = useState(() => oneByOne((lore: Lore[]) => put(lore).then(() => true, failed)));
  return {
    /** What is being saved is shown as if it were. */
    lore: wanted ?? preset.lore,
    isSaving: wanted !== null,
    /** Says whether it was saved. What comes while something is being saved is saved after it. */
    save: (lore: Lore[]): Promise<boolean> => {
      setWanted(lore);
      return saveNext(lore).finally(() => setWanted(null));
    },
  };
}

export type LoreState = ReturnType<typeof useLore>;
