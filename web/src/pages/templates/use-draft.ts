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
    untouched,
    unsaved,
    changedElsewhere: changedElsewhere && unsaved,
    edit: (next: Draft, tag = "") => setHistory((now) => change(now, next, tag)),
    undo: history.past.length > 0 ? () => setHistory(undo) : undefined,
    redo: history.future.length > 0 ? () => setHistory(redo) : undefined,
    discard: () => setHistory((now) => change(now, untouched, "")),
    save: () => saving.save(draft, base.revision),
    takeTheirs: (theirs: Stored) => {
      saving.settle(theirs);
      take(theirs);
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

/** What others have made of the template since it was read: null if they have deleted it. */
interface Meanwhile {
  theirs: Stored | null;
}

function useSave(templateId: string, onSaved: (saved: Stored, sent: Draft) => void) {
  const w = useWords(templateWords);
  const client = useQueryClient();
  const [meanwhile, setMeanwhile] = useState<Meanwhile | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const path = { template_id: templateId };
  const keep = (stored: Stored) =>
    client.setQueryData<Stored[]>(keys.templates, (all) => all?.map((one) => (one.id === stored.id ? stored : one)));
  const forget = () =>
    client.setQueryData<Stored[]>(keys.templates, (all) => all?.filter((one) => one.id !== templateId));
  const look = () =>
    ask(api.GET("/v1/templates/{template_id}", { params: { path } })).then(
      (theirs) => setMeanwhile({ theirs }),
      (problem) => {
        if (!(problem instanceof Problem && problem.status === 404)) return showProblem(problem);
        forget();
        setMeanwhile({ theirs: null });
      },
    );
  const put = useMutation({
    mutationFn: ({ sent, revision }: { sent: Draft; revision: string }) =>
      ask(api.PUT("/v1/templates/{template_id}", { params: { path }, body: { ...bodyOf(sent), revision } })),
    onSuccess: (saved, { sent }) => {
      keep(saved);
      setMeanwhile(null);
      setRefusal(null);
      onSaved(saved, sent);
      showDone(w.saved);
    },
    onError: (problem, { sent }) => {
      if (problem instanceof Problem && problem.code === "changed_meanwhile") return void look();
      setRefusal({ problem, sent });
      showProblem(problem);
    },
  });
  return {
    isPending: put.isPending,
    meanwhile,
    refusal,
    save: (sent: Draft, revision: string) => put.mutate({ sent, revision }),
    /** Nothing is to be decided any more; `stored` is what it was decided for. */
    settle: (stored?: Stored) => {
      if (stored) keep(stored);
      setMeanwhile(null);
    },
  };
}
