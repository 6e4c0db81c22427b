/** Makes a soul of a character and opens its first conversation. */

import { Button, Select, Stack, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";

import { useMakeSoul } from "~/parts/make-soul";
import { MBTI } from "~/parts/mbti";
import { showProblem } from "~/parts/problem";
import { TypeReasons, useSuggestedType } from "~/parts/suggested-type";
import { libraryWords } from "~/words/library";
import { useWords } from "~/words/words";
import type { Character } from "./fields";

type Named = Pick<Character, "id" | "name" | "mbti_type">;

export function MakeSoulForm({ character, onMade }: { character: Named; onMade: () => void }) {
  const w = useWords(libraryWords);
  const [name, setName] = useState(character.name);
  const suggestion = useSuggestedType(character.mbti_type ? null : character.id);
  const [chosen, setChosen] = useState<string | null>(null);
  const type = chosen ?? character.mbti_type ?? suggestion?.mbti_type ?? null;
  const [userName, setUserName] = useState("");
  const make = useMakeSoul(onMade);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!name.trim() || !type || make.isPending) return;
    const wanted = { name, mbti_type: type, character_id: character.id, user_name: userName };
    make.mutate(wanted, { onError: showProblem });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput label={w.soulName} value={name} maxLength={80} required onChange={(event) => setName(event.currentTarget.value)} />
        <Select
          label={w.mbti}
          description={character.mbti_type ? undefined : w.needMbti}
          data={MBTI}
          value={type}
          searchable
          required
          onChange={setChosen}
        />
        <TypeReasons suggestion={suggestion} />
        <TextInput
          label={w.userName}
          description={w.userNameHint}
          value={userName}
          maxLength={80}
          onChange={(event) => setUserName(event.currentTarget.value)}
        />
        <Button type="submit" loading={make.isPending} disabled={!name.trim() || !type}>
          {w.makeAndTalk}
        </Button>
      </Stack>
    </form>
  );
}
