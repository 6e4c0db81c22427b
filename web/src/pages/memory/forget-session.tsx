/** Before a conversation is forgotten, it is said what exactly is. */

import { Radio, Stack } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { useAccess } from "~/access";
import { api, ask } from "~/api/client";
import { keys } from "~/api/queries";
import { FormDialog } from "~/parts/dialog";
import { showDone, showProblem } from "~/parts/problem";
import { memoryWords } from "~/words/memory";
import { useWords } from "~/words/words";

import { ConversationSelect } from "./conversation-select";
import { type Session, useChanger, useConversations, useMayChange } from "./view";

interface ForgetProps {
  soulId: string;
  first: string | null;
  onClose: () => void;
}

export function ForgetSession({ soulId, first, onClose }: ForgetProps) {
  const w = useWords(memoryWords);
  const { isOwner } = useAccess();
  const mayChange = useMayChange();
  const sessions = (useConversations(soulId).data ?? []).filter((session) => mayChange(session.user_id));
  const [chosen, setChosen] = useState(first);
  const [what, setWhat] = useState(isOwner ? "events" : "all");
  const session = sessions.find(({ session_id }) => session_id === chosen);
  const forget = useForget(what === "all", onClose);
  const choices = [
    ...(isOwner ? [{ value: "events", label: w.forgetEventsOnly, description: w.forgetEventsOnlyText }] : []),
    { value: "all", label: w.forgetAll, description: w.forgetAllText },
  ];
  return (
    <FormDialog
      title={w.forgetSessionTitle}
      submit={w.forgetDo}
      color="red"
      pending={forget.isPending}
      ready={session !== undefined}
      onSubmit={() => session && forget.mutate(session)}
      onClose={onClose}
    >
      <ConversationSelect sessions={sessions} value={session?.session_id ?? null} onChange={setChosen} />
      <Radio.Group label={w.forgetWhat} value={what} onChange={setWhat}>
        <Stack gap="xs" mt={6}>
          {choices.map((choice) => (
            <Radio key={choice.value} {...choice} />
          ))}
        </Stack>
      </Radio.Group>
    </FormDialog>
  );
}

/** Tells how many events went, or that all of the conversation did. */
function useForget(all: boolean, onDone: () => void) {
  const w = useWords(memoryWords);
  const as = useChanger();
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ session_id, user_id }: Session) => {
      if (all) {
        const params = { path: { session_id }, query: { user_id: as(user_id) } };
        await ask(api.DELETE("/v1/sessions/{session_id}", { params }));
        return w.forgottenSession;
      }
      const { forgotten } = await ask(api.DELETE("/v1/events", { params: { query: { session_id } } }));
      return w.forgottenEvents(forgotten.length);
    },
    onSuccess: async (told, { soul_id }) => {
      onDone();
      // An event that is open may be gone: its own answer is not asked for before it is opened again.
      void client.invalidateQueries({ queryKey: [...keys.events, "one"], refetchType: "none" });
      const stale = [keys.sessions(), [...keys.events, "list"], keys.soul(soul_id)];
      await Promise.all(stale.map((queryKey) => client.invalidateQueries({ queryKey })));
      showDone(told);
    },
    onError: showProblem,
  });
}
