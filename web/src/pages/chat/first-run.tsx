/** The first thing on an empty server: make a soul and say hello. */

import { Button, Center, Group, Radio, Select, Stack, Text, TextInput, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useEffect, useState } from "react";

import { useAccess } from "~/access";
import { api, ask } from "~/api/client";
import { keys } from "~/api/queries";
import { Face } from "~/parts/face";
import { type NewSoul, useMakeSoul } from "~/parts/make-soul";
import { ProblemNote } from "~/parts/problem";
import { TypeReasons, useSuggestedType } from "~/parts/suggested-type";
import { chatWords } from "~/words/chat";
import { useWords } from "~/words/words";
import c from "./first-run.module.css";

export function FirstRun() {
  const w = useWords(chatWords).first;
  const { isServerOwner } = useAccess();
  return (
    <Center mih="100%" p="md">
      <Stack className="panel" maw={520} w="100%" gap="md">
        <Group wrap="nowrap">
          <Face p={isServerOwner ? 0.5 : -0.1} a={0.1} d={0.1} size={56} label={w.face} />
          <Title order={1} size="h3">
            {isServerOwner ? w.title : w.notYours}
          </Title>
        </Group>
        <Text size="sm" c="dimmed">
          {isServerOwner ? w.text : w.notYoursText}
        </Text>
        {isServerOwner && <SoulForm />}
      </Stack>
    </Center>
  );
}

export function SoulForm({ onMade }: { onMade?: () => void }) {
  const w = useWords(chatWords).first;
  const [soul, setSoul] = useState<NewSoul>({ name: "", mbti_type: "INFJ", character_id: null, user_name: "" });
  const change = (part: Partial<NewSoul>) => setSoul((now) => ({ ...now, ...part }));
  const characters = useQuery({ queryKey: keys.characters, queryFn: () => ask(api.GET("/v1/characters")) });
  const chosen = characters.data?.find((one) => one.id === soul.character_id);
  const suggestion = useSuggestedType(chosen && !chosen.mbti_type ? chosen.id : null);
  useEffect(() => {
    if (suggestion) setSoul((now) => ({ ...now, mbti_type: suggestion.mbti_type }));
  }, [suggestion]);
  const make = useMakeSoul(onMade);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (soul.name.trim() && !make.isPending) make.mutate(soul);
  };
  const choose = (id: string | null) => {
    const character = characters.data?.find((one) => one.id === id);
    change({
      character_id: id || null,
      ...(character && !soul.name.trim() && { name: character.name }),
      ...(character?.mbti_type && { mbti_type: character.mbti_type }),
    });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <TextInput
          label={w.name}
          placeholder={w.nameHint}
          value={soul.name}
          onChange={(event) => change({ name: event.currentTarget.value })}
          maxLength={80}
          required
          autoFocus
        />
        <TypePicker value={soul.mbti_type} onChange={(mbti_type) => change({ mbti_type })} />
        <TypeReasons suggestion={suggestion} />
        <Select
          label={w.character}
          description={w.characterHint}
          data={[
            { value: "", label: w.noCharacter },
            ...(characters.data ?? []).map((one) => ({ value: one.id, label: one.name })),
          ]}
          value={soul.character_id ?? ""}
          onChange={choose}
          allowDeselect={false}
        />
        <TextInput
          label={w.address}
          placeholder={w.addressHint}
          value={soul.user_name}
          onChange={(event) => change({ user_name: event.currentTarget.value })}
          maxLength={80}
        />
        {make.error && <ProblemNote problem={make.error} />}
        <Button type="submit" loading={make.isPending} disabled={!soul.name.trim()}>
          {w.make}
        </Button>
      </Stack>
    </form>
  );
}

/** The sixteen types with a word each; the arrow keys go through them. */
function TypePicker({ value, onChange }: { value: string; onChange: (type: string) => void }) {
  const all = useWords(chatWords);
  return (
    <Radio.Group label={all.first.type} value={value} onChange={onChange}>
      <div className={c.types}>
        {Object.entries(all.mbti).map(([type, word]) => (
          <Radio.Card key={type} value={type} className={c.type} aria-label={`${type} ${word}`}>
            <strong>{type}</strong>
            <span>{word}</span>
          </Radio.Card>
        ))}
      </div>
    </Radio.Group>
  );
}
