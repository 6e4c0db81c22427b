/** What a conversation is called, and who takes part in it. */

import { Button, Group, MultiSelect, Stack, TagsInput, Text, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";

import { useAccess } from "~/access";
import { api, ask, type Schemas } from "~/api/client";
import { keys, queryClient } from "~/api/queries";
import { closeDialog } from "~/pages/chat/dialog-state";
import { readerOf, type Session } from "~/pages/chat/sessions";
import { showProblem } from "~/parts/problem";
import { useSouls } from "~/parts/soul-picker";
import { chatWords } from "~/words/chat";
import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";

const LONGEST_TITLE = 200;

function usePatch(session: Session) {
  const reader = readerOf(useAccess());
  return useMutation({
    mutationFn: (body: Schemas["SessionPatch"]) =>
      ask(
        api.PATCH("/v1/sessions/{session_id}", {
          params: { path: { session_id: session.session_id }, query: { user_id: reader } },
          body,
        }),
      ),
    onSuccess: async (changed) => {
      queryClient.setQueryData(keys.session(session.session_id, "itself"), changed);
      closeDialog();
      await queryClient.invalidateQueries({ queryKey: keys.sessions() });
    },
    onError: showProblem,
  });
}

export function Rename({ session }: { session: Session }) {
  const w = useWords(commonWords);
  const [title, setTitle] = useState(session.title);
  const patch = usePatch(session);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    patch.mutate({ title: title.trim() });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label={w.name}
          value={title}
          onChange={(event) => setTitle(event.currentTarget.value)}
          maxLength={LONGEST_TITLE}
          data-autofocus
        />
        <Button type="submit" loading={patch.isPending}>
          {w.save}
        </Button>
      </Stack>
    </form>
  );
}

interface OthersProps {
  /** The session's own, who are always there. */
  person: string;
  soulId: string;
  people: string[];
  souls: string[];
  onPeople: (people: string[]) => void;
  onSouls: (souls: string[]) => void;
}

/** The people and souls beside a conversation's own. */
export function Others({ person, soulId, people, souls, onPeople, onSouls }: OthersProps) {
  const w = useWords(chatWords);
  const { actsForAnybody } = useAccess();
  const all = useSouls().data ?? [];
  const others = all.filter((soul) => soul.soul_id !== soulId);
  return (
    <>
      <TagsInput
        label={w.otherPeople}
        description={actsForAnybody ? w.otherPeopleHint : w.otherPeopleLess}
        value={people}
        onChange={(chosen) => onPeople(chosen.filter((one) => one !== person && (actsForAnybody || people.includes(one))))}
        maxTags={20}
      />
      {(others.length > 0 || souls.length > 0) && (
        <MultiSelect
          label={w.otherSouls}
          data={others.map((soul) => ({ value: soul.soul_id, label: soul.name }))}
          value={souls}
          onChange={onSouls}
          maxValues={10}
          searchable
        />
      )}
    </>
  );
}

export function People({ session }: { session: Session }) {
  const w = useWords(chatWords);
  const common = useWords(commonWords);
  const [people, setPeople] = useState(session.people);
  const [souls, setSouls] = useState(session.souls);
  const patch = usePatch(session);
  return (
    <Stack>
      <Text size="sm">{w.groupMeaning(session.user_id)}</Text>
      <Others
        person={session.user_id}
        soulId={session.soul_id}
        people={people}
        souls={souls}
        onPeople={setPeople}
        onSouls={setSouls}
      />
      <Group justify="flex-end">
        <Button loading={patch.isPending} onClick={() => patch.mutate({ people, souls })}>
          {common.save}
        </Button>
      </Group>
    </Stack>
  );
}
