import { NumberInput, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { useAccess } from "~/access";
import { api, ask, type Schemas } from "~/api/client";
import { keys } from "~/api/queries";
import { FormDialog } from "~/parts/dialog";
import { LimitedTextarea } from "~/parts/limited";
import { excessOf } from "~/parts/limits";
import { showProblem } from "~/parts/problem";
import { commonWords } from "~/words/common";
import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import { SharingInput } from "./sharing";

interface PreferenceDialogProps {
  soulId: string;
  preference: Schemas["PreferenceOut"] | null;
  onClose: () => void;
}

/** How many characters the value and each line of the evidence may have. */
const MOST = 500;

export function evidenceText(evidence: unknown): string {
  return typeof evidence === "string" ? evidence : JSON.stringify(evidence);
}

export function PreferenceDialog({ soulId, preference, onClose }: PreferenceDialogProps) {
  const w = useWords(soulWords);
  const common = useWords(commonWords);
  const { userId } = useAccess();
  const [key, setKey] = useState(preference?.key ?? "");
  const [value, setValue] = useState(preference?.value ?? "");
  const [percent, setPercent] = useState(Math.round(100 * (preference?.confidence ?? 1)));
  const known = (preference?.evidence ?? []).map(evidenceText).join("\n");
  const [evidence, setEvidence] = useState(known);
  const [shared, setShared] = useState(preference?.shared_with ?? []);
  const lines = evidence.split("\n").map((line) => line.trim()).filter(Boolean);
  const body = { value: value.trim(), confidence: percent / 100, evidence: lines, shared_with: shared };
  const longest = lines.reduce((one, other) => (other.length > one.length ? other : one), "");
  const save = useSavePreference(soulId, onClose);
  return (
    <FormDialog
      title={preference ? w.editPreference(preference.key) : w.addPreference}
      submit={common.save}
      pending={save.isPending}
      ready={key.trim() !== "" && value.trim() !== "" && [value, ...lines].every((text) => excessOf(text, MOST) === 0)}
      changed={value !== (preference?.value ?? "") || evidence !== known || key !== (preference?.key ?? "")}
      onSubmit={() => save.mutate({ key: key.trim(), body })}
      onClose={onClose}
    >
      {!preference && (
        <TextInput
          label={w.key}
          description={w.keyHint}
          value={key}
          maxLength={80}
          onChange={(event) => setKey(event.currentTarget.value)}
          data-autofocus
        />
      )}
      <LimitedTextarea
        label={w.value}
        value={value}
        most={MOST}
        error={preference && value.trim() === "" && w.preferenceEmptied(w.deletePreference(preference.key))}
        minRows={1}
        onChange={(event) => setValue(event.currentTarget.value)}
        data-autofocus={preference ? true : undefined}
      />
      <NumberInput
        label={w.confidence}
        suffix="%"
        value={percent}
        min={0}
        max={100}
        clampBehavior="strict"
        allowDecimal={false}
        onChange={(chosen) => setPercent(Number(chosen) || 0)}
      />
      <Textarea
        label={w.evidence}
        description={w.evidenceHint}
        error={excessOf(longest, MOST) > 0 && common.tooLong(excessOf(longest, MOST), MOST)}
        value={evidence}
        autosize
        minRows={2}
        onChange={(event) => setEvidence(event.currentTarget.value)}
      />
      <SharingInput soulId={soulId} value={shared} onChange={setShared} except={userId} />
    </FormDialog>
  );
}

function useSavePreference(soulId: string, onSaved: () => void) {
  const { person } = useAccess();
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ key, body }: { key: string; body: Schemas["PreferenceEdit"] }) => {
      const params = { path: { soul_id: soulId, key }, query: { user_id: person } };
      return ask(api.PUT("/v1/souls/{soul_id}/preferences/{key}", { params, body }));
    },
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: keys.soul(soulId) });
      onSaved();
    },
    onError: showProblem,
  });
}
