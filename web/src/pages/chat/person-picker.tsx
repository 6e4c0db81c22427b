/** As whom one speaks, for those who may speak as anybody. */

import { Autocomplete } from "@mantine/core";
import { IconUser } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useNavigate } from "react-router";

import { useAccess } from "~/access";
import { api, ask } from "~/api/client";
import { keys } from "~/api/queries";
import { isComposing } from "~/composing";
import { usePreferences } from "~/preferences";
import { chatWords } from "~/words/chat";
import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";

/** What the server takes as an id. */
export const PERSON_ID = /^[\p{L}\p{N}_.:@-]{1,128}$/u;

function usePeople(soulId: string): string[] {
  const { isOwner, userId } = useAccess();
  const relations = useQuery({
    queryKey: keys.soul(soulId, "relations", "everybody"),
    queryFn: () => ask(api.GET("/v1/souls/{soul_id}/relations", { params: { path: { soul_id: soulId } } })),
    enabled: isOwner,
  });
  const known = (relations.data ?? []).map((relation) => relation.user_id).filter(Boolean);
  return [...new Set(["default", userId, ...known])];
}

export function PersonPicker({ soulId }: { soulId: string }) {
  const w = useWords(chatWords);
  const common = useWords(commonWords);
  const { userId } = useAccess();
  const people = usePeople(soulId);
  const navigate = useNavigate();
  const [typed, setTyped] = useState(userId);
  useEffect(() => setTyped(userId), [userId]);
  const valid = PERSON_ID.test(typed.trim());
  const choose = (person: string) => {
    if (!PERSON_ID.test(person) || person === userId) return;
    usePreferences.getState().setUserId(person);
    void navigate("/chat");
  };
  return (
    <Autocomplete
      label={common.personPicker}
      size="xs"
      leftSection={<IconUser size={14} aria-hidden />}
      data={people}
      filter={({ options }) => options}
      value={typed}
      onChange={setTyped}
      onOptionSubmit={choose}
      onBlur={() => (valid ? choose(typed.trim()) : setTyped(userId))}
      onKeyDown={(event) => event.key === "Enter" && !isComposing(event) && choose(typed.trim())}
      error={valid ? undefined : w.personInvalid}
    />
  );
}
