/** The form of a preset: what was changed, saving, and what happens when others save too. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";

import { Problem } from "~/api/client";
import { showDone, showProblem } from "~/parts/problem";
import { libraryWords } from "~/words/library";
import { useWords } from "~/words/words";
import { type Kind, mistakesByField } from "./fields";
import { keep, type Preset, readPreset } from "./queries";

export interface Form<Stored, Fields> {
  kind: Kind;
  fieldsOf: (stored: Stored) => Fields;
  put: (fields: Fields, base: Stored) => Promise<Stored>;
}

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

export function usePreset<Stored extends Preset, Fields>(stored: Stored, form: Form<Stored, Fields>) {
  const [base, setBase] = useState(stored);
  const [fields, setFields] = useState(() => form.fieldsOf(stored));
  const untouched = useMemo(() => form.fieldsOf(base), [base]);
  const unsaved = !same(fields, untouched);
  const isNewer = stored.revision !== base.revision;
  // Lore is saved by itself: that does not concern the form.
  const concerns = isNewer && !same(form.fieldsOf(stored), untouched);
  const take = (newer: Stored) => {
    setBase(newer);
    setFields(form.fieldsOf(newer));
  };
  useEffect(() => {
    if (!isNewer) return;
    if (!unsaved) take(stored);
    else if (!concerns) setBase(stored);
  }, [isNewer, unsaved, concerns, stored]);
  const saving = useSaving(stored, form, (saved, sent) => {
    setBase(saved);
    setFields((now) => (now === sent ? form.fieldsOf(saved) : now));
  });
  return {
    fields,
    change: (part: Partial<Fields>) => setFields((now) => ({ ...now, ...part })),
    unsaved,
    changedElsewhere: concerns && unsaved,
    mistakes: saving.mistakes,
    discard: () => setFields(untouched),
    save: () => saving.save(fields, base),
    saving,
    overwrite: () => saving.overwrite(fields),
    takeTheirs: async () => {
      const theirs = await saving.theirs();
      if (theirs) take(theirs);
    },
  };
}

/** What the head of a form needs of it, whatever its fields are. */
export interface PresetForm {
  unsaved: boolean;
  changedElsewhere: boolean;
  discard: () => void;
  save: () => void;
  saving: { isPending: boolean; conflict: boolean; settle: () => void };
  overwrite: () => Promise<void>;
  takeTheirs: () => Promise<void>;
}

function useSaving<Stored extends Preset, Fields>(
  { id }: Stored,
  { kind, put }: Form<Stored, Fields>,
  onSaved: (saved: Stored, sent: Fields) => void,
) {
  const w = useWords(libraryWords);
  const client = useQueryClient();
  const [conflict, setConflict] = useState(false);
  const saving = useMutation({
    mutationFn: ({ fields, base }: { fields: Fields; base: Stored }) => put(fields, base),
    onSuccess: (saved, { fields }) => {
      keep(client, kind, saved);
      setConflict(false);
      onSaved(saved, fields);
      showDone(w.saved);
    },
    onError: (problem) => {
      if (problem instanceof Problem && problem.code === "changed_meanwhile") setConflict(true);
      else showProblem(problem);
    },
  });
  const current = () => readPreset(kind, id).catch(showProblem) as Promise<Stored | undefined>;
  return {
    isPending: saving.isPending,
    conflict,
    mistakes: mistakesByField(saving.error),
    save: (fields: Fields, base: Stored) => saving.mutate({ fields, base }),
    overwrite: async (fields: Fields) => {
      const theirs = await current();
      if (theirs) saving.mutate({ fields, base: theirs });
    },
    theirs: async () => {
      const theirs = await current();
      if (theirs) keep(client, kind, theirs);
      setConflict(false);
      return theirs;
    },
    settle: () => setConflict(false),
  };
}
