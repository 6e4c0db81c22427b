import { NumberInput, Text } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, ask } from "~/api/client";
import { keys } from "~/api/queries";
import { FormDialog } from "~/parts/dialog";
import { showDone, showProblem } from "~/parts/problem";
import { memoryWords } from "~/words/memory";
import { useWords } from "~/words/words";

const USUAL = 1000;

export function TidyDialog({ onClose }: { onClose: () => void }) {
  const w = useWords(memoryWords);
  const client = useQueryClient();
  const [keep, setKeep] = useState<number | string>(USUAL);
  const tidy = useMutation({
    mutationFn: () => ask(api.POST("/v1/events/tidy", { body: { keep: Number(keep) } })),
    onSuccess: async ({ forgotten }) => {
      onClose();
      // What is open may be gone: its own answer is not asked for once more.
      await client.invalidateQueries({ queryKey: [...keys.events, "list"] });
      showDone(w.forgottenEvents(forgotten.length));
    },
    onError: showProblem,
  });
  return (
    <FormDialog
      title={w.tidyTitle}
      submit={w.tidyDo}
      color="red"
      pending={tidy.isPending}
      ready={keep !== ""}
      onSubmit={tidy.mutate}
      onClose={onClose}
    >
      <Text size="sm">{w.tidyText}</Text>
      <NumberInput label={w.keep} value={keep} min={0} allowDecimal={false} onChange={setKeep} data-autofocus />
    </FormDialog>
  );
}
