/** Before a soul forgets a person, it is said what exactly goes and what stays. */

import { Checkbox, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { useAccess } from "~/access";
import { api, ask } from "~/api/client";
import { keys } from "~/api/queries";
import { FormDialog } from "~/parts/dialog";
import { showDone, showProblem } from "~/parts/problem";
import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import { Read } from "./section";
import css from "./soul.module.css";

interface ForgetProps {
  soulId: string;
  userId: string;
  onClose: () => void;
}

export function ForgetPerson({ soulId, userId, onClose }: ForgetProps) {
  const w = useWords(soulWords);
  const client = useQueryClient();
  const kept = useKept(soulId, userId);
  const [sessions, setSessions] = useState(false);
  const forget = useMutation({
    mutationFn: () => {
      const params = { path: { soul_id: soulId, user_id: userId }, query: { sessions } };
      return ask(api.DELETE("/v1/souls/{soul_id}/relations/{user_id}", { params }));
    },
    onSuccess: async () => {
      onClose();
      const stale = [keys.soul(soulId), keys.sessions(), keys.events];
      await Promise.all(stale.map((queryKey) => client.invalidateQueries({ queryKey })));
      showDone(w.forgotten(userId));
    },
    onError: showProblem,
  });
  return (
    <FormDialog
      title={w.forgetTitle(userId)}
      submit={w.forgetNamed(userId)}
      color="red"
      pending={forget.isPending}
      ready={kept.isSuccess}
      onSubmit={forget.mutate}
      onClose={onClose}
    >
      <Read query={kept}>
        {(counts) => <Consequences {...counts} withSessions={sessions} />}
      </Read>
      <Checkbox
        label={w.forgetSessions}
        checked={sessions}
        onChange={(event) => setSessions(event.currentTarget.checked)}
      />
    </FormDialog>
  );
}

interface Counts {
  slots: number;
  preferences: number;
  conversations: number;
}

function Consequences({ slots, preferences, conversations, withSessions }: Counts & { withSessions: boolean }) {
  const w = useWords(soulWords);
  const talks = withSessions ? w.forgetSessionsGo(conversations) : w.forgetTranscripts(conversations);
  const goes = [w.forgetRelation, w.forgetSlots(slots), w.forgetPreferences(preferences), w.forgetProfile, w.forgetEvents];
  const stays = [w.forgetGroups];
  (withSessions ? goes : stays).push(talks);
  return (
    <>
      <Text size="sm" fw={600}>
        {w.forgetGoes}
      </Text>
      <ul className={css.list}>
        {goes.map((what) => (
          <li key={what}>{what}</li>
        ))}
      </ul>
      <Text size="sm" fw={600}>
        {w.forgetStays}
      </Text>
      <ul className={css.list}>
        {stays.map((what) => (
          <li key={what}>{what}</li>
        ))}
      </ul>
    </>
  );
}

/** How much there is of this person. */
function useKept(soulId: string, userId: string) {
  const { actsForAnybody } = useAccess();
  const user_id = actsForAnybody ? userId : undefined;
  const params = { path: { soul_id: soulId }, query: { user_id } };
  return useQuery({
    queryKey: keys.soul(soulId, "kept-of", userId),
    staleTime: 0,
    queryFn: async (): Promise<Counts> => {
      const [slots, preferences, sessions] = await Promise.all([
        ask(api.GET("/v1/souls/{soul_id}/slots", { params })),
        ask(api.GET("/v1/souls/{soul_id}/preferences", { params })),
        ask(api.GET("/v1/sessions", { params: { query: { soul_id: soulId, user_id, limit: 1000 } } })),
      ]);
      const own = sessions.filter((session) => session.user_id === userId && session.people.length === 0);
      return { slots: slots.length, preferences: preferences.length, conversations: own.length };
    },
  });
}
