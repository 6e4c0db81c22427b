import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { useAccess } from "~/access";
import { api, ask } from "~/api/client";
import { keys } from "~/api/queries";
import { FormDialog } from "~/parts/dialog";
import { LimitedTextarea } from "~/parts/limited";
import { excessOf } from "~/parts/limits";
import { showProblem } from "~/parts/problem";
import { commonWords } from "~/words/common";
import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import { SharingInput } from "./sharing";
import { MOST_OF_SLOT, type Slot } from "./slot-numbers";

interface SlotDialogProps {
  soulId: string;
  n: number;
  slot: Slot | null;
  onClose: () => void;
}

export function SlotDialog({ soulId, n, slot, onClose }: SlotDialogProps) {
  const w = useWords(soulWords);
  const common = useWords(commonWords);
  const { person, userId } = useAccess();
  const client = useQueryClient();
  const [content, setContent] = useState(slot?.content ?? "");
  const [shared, setShared] = useState(slot?.shared_with ?? []);
  const isEmpty = content.trim() === "";
  const save = useMutation({
    mutationFn: () => {
      const params = { path: { soul_id: soulId, n }, query: { user_id: person } };
      const body = { content: content.trim(), shared_with: shared };
      return ask(api.PUT("/v1/souls/{soul_id}/slots/{n}", { params, body }));
    },
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: keys.soul(soulId) });
      onClose();
    },
    onError: showProblem,
  });
  return (
    <FormDialog
      title={slot ? w.editSlot(n) : `${w.newSlot} · ${n}`}
      submit={common.save}
      pending={save.isPending}
      ready={!isEmpty && excessOf(content, MOST_OF_SLOT) === 0}
      changed={content !== (slot?.content ?? "")}
      onSubmit={save.mutate}
      onClose={onClose}
    >
      <LimitedTextarea
        label={w.content}
        value={content}
        most={MOST_OF_SLOT}
        error={slot && isEmpty && w.slotEmptied(w.deleteSlot(n))}
        minRows={2}
        onChange={(event) => setContent(event.currentTarget.value)}
        data-autofocus
      />
      <SharingInput soulId={soulId} value={shared} onChange={setShared} except={userId} />
    </FormDialog>
  );
}
