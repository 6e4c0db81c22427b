/** Begin a conversation: with whom, where, in which voice, and with which first words. */

import { Button, Radio, Select, Stack, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useNavigate } from "react-router";

import { useAccess } from "~/access";
import { api, ask } from "~/api/client";
import { keys, queryClient } from "~/api/queries";
import { closeDialog } from "~/pages/chat/dialog-state";
import { useCharacters } from "~/pages/chat/empty-talk";
import { Others } from "~/pages/chat/session-forms";
import { ProblemNote } from "~/parts/problem";
import { useSouls } from "~/parts/soul-picker";
import { usePreferences } from "~/preferences";
import { chatWords } from "~/words/chat";
import { useWords } from "~/words/words";
import c from "./chat.module.css";

interface Beginning {
  soul_id: string;
  title: string;
  background_id: string | null;
  template_id: string | null;
  people: string[];
  souls: string[];
  /** The number of the character's greeting; null: the person speaks first. */
  greeting: number | null;
}

function useBegin() {
  const { person } = useAccess();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: async ({ greeting, ...wanted }: Beginning) => {
      const session = await ask(api.POST("/v1/sessions", { body: { ...wanted, user_id: person } }));
      const opening = { session_id: session.session_id, user_id: person, greeting: greeting ?? 0 };
      if (greeting !== null) await ask(api.POST("/v1/sessions/open", { body: opening }));
      return session;
    },
    onSuccess: (session) => {
      closeDialog();
      usePreferences.getState().setSoulId(session.soul_id);
      void queryClient.invalidateQueries({ queryKey: keys.sessions() });
      void navigate(`/chat/${encodeURIComponent(session.session_id)}`);
    },
  });
}

export function NewConversation({ soulId }: { soulId: string }) {
  const w = useWords(chatWords);
  const { userId } = useAccess();
  const begin = useBegin();
  const [wanted, setWanted] = useState<Beginning>({
    soul_id: soulId,
    title: "",
    background_id: null,
    template_id: null,
    people: [],
    souls: [],
    greeting: 0,
  });
  const change = (part: Partial<Beginning>) => setWanted((now) => ({ ...now, ...part }));
  const greetings = useGreetings(wanted.soul_id);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    begin.mutate({ ...wanted, greeting: greetings.length ? wanted.greeting : null });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Setting wanted={wanted} change={change} />
        <GreetingChoice greetings={greetings} chosen={wanted.greeting} onChoose={(greeting) => change({ greeting })} />
        <Others
          person={userId}
          soulId={wanted.soul_id}
          people={wanted.people}
          souls={wanted.souls}
          onPeople={(people) => change({ people })}
          onSouls={(souls) => change({ souls })}
        />
        {begin.error && <ProblemNote problem={begin.error} />}
        <Button type="submit" loading={begin.isPending}>
          {w.begin}
        </Button>
      </Stack>
    </form>
  );
}

function useGreetings(soulId: string): string[] {
  const character = useSouls().data?.find((soul) => soul.soul_id === soulId)?.character_id;
  return useCharacters().data?.find((one) => one.id === character)?.greetings ?? [];
}

function Setting({ wanted, change }: { wanted: Beginning; change: (part: Partial<Beginning>) => void }) {
  const w = useWords(chatWords);
  const souls = useSouls().data ?? [];
  const backgrounds = useQuery({ queryKey: keys.backgrounds, queryFn: () => ask(api.GET("/v1/backgrounds")) });
  const templates = useQuery({ queryKey: keys.templates, queryFn: () => ask(api.GET("/v1/templates")) });
  const named = (all: { id: string; name: string }[] | undefined) =>
    (all ?? []).map(({ id, name }) => ({ value: id, label: name }));
  return (
    <>
      <Select
        label={w.withWhom}
        data={souls.map((soul) => ({ value: soul.soul_id, label: `${soul.name} · ${soul.mbti_type}` }))}
        value={wanted.soul_id}
        onChange={(soul) => soul && change({ soul_id: soul, souls: [], greeting: 0 })}
        allowDeselect={false}
        data-autofocus
      />
      <TextInput
        label={w.title}
        placeholder={w.titleHint}
        value={wanted.title}
        onChange={(event) => change({ title: event.currentTarget.value })}
        maxLength={200}
      />
      <Select
        label={w.background}
        placeholder={w.noBackground}
        data={named(backgrounds.data)}
        value={wanted.background_id}
        onChange={(background_id) => change({ background_id })}
        clearable
        searchable
      />
      <Select
        label={w.template}
        placeholder={w.usualTemplate}
        data={named(templates.data)}
        value={wanted.template_id}
        onChange={(template_id) => change({ template_id })}
        clearable
      />
    </>
  );
}

interface GreetingProps {
  greetings: string[];
  chosen: number | null;
  onChoose: (greeting: number | null) => void;
}

function GreetingChoice({ greetings, chosen, onChoose }: GreetingProps) {
  const w = useWords(chatWords);
  if (!greetings.length) return null;
  return (
    <Radio.Group
      label={w.firstWords}
      value={chosen === null ? "" : String(chosen)}
      onChange={(value) => onChoose(value === "" ? null : Number(value))}
    >
      <Stack gap="xs" mt={6} className={c.greetingChoice}>
        {greetings.map((words, n) => (
          <Radio key={`${n}-${words}`} value={String(n)} label={words} />
        ))}
        <Radio value="" label={w.iSpeakFirst} />
      </Stack>
    </Radio.Group>
  );
}
