/** The draft of a template: what was changed, undo and redo, saving, and what happens when others save too. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";

import { api, ask, Problem } from "~/api/client";
import { keys } from "~/api/queries";
import { showDone, showProblem } from "~/parts/problem";
import { templateWords } from "~/words/templates";
import { useWords } from "~/words/words";
import { bodyOf, type Draft, draftOf, isSame, type Stored } from "./draft";
import { beginning, change, redo, undo } from "./history";

export interface Refusal {
  problem: unknown;
  sent: Draft;
}

export function useDraft(template: Stored) {
  const [base, setBase] = useState(template);
  const [history, setHistory] = useState(() => beginning(draftOf(template)));
  const untouched = useMemo(() => draftOf(base), [base]);
  const draft = history.present;
  const unsaved = useMemo(() => !isSame(draft, untouched), [draft, untouched]);
  const changedElsewhere = template.revision !== base.revision;
  const take = (stored: Stored) => {
    setBase(stored);
    setHistory(beginning(draftOf(stored)));
  };
  useEffect(() => {
    if (changedElsewhere && !unsaved) take(template);
  }, [changedElsewhere, unsaved, template]);
  const saving = useSave(template.id, (saved, sent) => {
    setBase(saved);
    setHistory((now) => (now.present === sent ? { ...now, present: withKeys(saved, sent), tag: "" } : now));
  });
  return {
    draft,
    unsaved,
    changedElsewhere: changedElsewhere && unsaved,
    edit: (next: Draft, tag = "") => setHistory((now) => change(now, next, tag)),
    undo: history.past.length > 0 ? () => setHistory(undo) : undefined,
    redo: history.future.length > 0 ? () => setHistory(redo) : undefined,
    discard: () => setHistory((now) => change(now, untouched, "")),
    save: () => saving.save(draft, base.revision),
    overwrite: () => saving.overwrite(draft),
    takeTheirs: async () => {
      const theirs = await saving.theirs();
      if (theirs) take(theirs);
    },
    saving,
  };
}

export type Drafting = ReturnType<typeof useDraft>;

/** What the server has made of the draft, in the rows that are on the page already. */
function withKeys(saved: Stored, sent: Draft): Draft {
  const adopted = draftOf(saved);
  const modules = adopted.modules.map((module, at) => ({ ...module, key: sent.modules[at]?.key ?? module.key }));
  return { ...adopted, modules };
}

function useSave(templateId: string, onSaved: (saved: Stored, sent: Draft) => void) {
  const w = useWords(templateWords);
  const client = useQueryClient();
  const [conflict, setConflict] = useState(false);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const path = { template_id: templateId };
  const put = useMutation({
    mutationFn: ({ sent, revision }: { sent: Draft; revision: string }) =>
      ask(api.PUT("/v1/templates/{template_id}", { params: { path }, body: { ...bodyOf(sent), revision } })),
    onSuccess: (saved, { sent }) => {
      client.setQueryData<Stored[]>(keys.templates, (all) => all?.map((one) => (one.id === saved.id ? saved : one)));
      setConflict(false);
      setRefusal(null);
      onSaved(saved, sent);
      showDone(w.saved);
    },
    onError: (problem, { sent }) => {
      if (problem instanceof Problem && problem.code === "changed_meanwhile") return setConflict(true);
      setRefusal({ problem, sent });
      showProblem(problem);
    },
  });
  const current = () => ask(api.GET("/v1/templates/{template_id}", { params: { path } }));
  const overwrite = async (sent: Draft) => {
    const theirs = await current().catch(showProblem);
    if (theirs) put.mutate({ sent, revision: theirs.revision });
  };
  return {
    isPending: put.isPending,
    conflict,
    refusal,
    save: (sent: Draft, revision: string) => put.mutate({ sent, revision }),
    overwrite,
    theirs: async () => {
      const theirs = await current().catch(showProblem);
      if (!theirs) return undefined;
      client.setQueryData<Stored[]>(keys.templates, (all) => all?.map((one) => (one.id === theirs.id ? theirs : one)));
      setConflict(false);
      return theirs;
    },
    settle: () => setConflict(false),
  };
}
