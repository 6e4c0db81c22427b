/** Whose things a page shows: for those who may act for anybody. */

import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { useAccess } from "~/access";
import { api, ask } from "~/api/client";
import { keys } from "~/api/queries";
import { usePreferences } from "~/preferences";
import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

/** As the server takes ids. */
const ID = /^[\p{L}\p{N}_.:@-]{1,128}$/u;

/** The people that a soul knows: all of them for an owner, else the caller alone. */
export function useRelations(soulId: string) {
  const { isOwner, person } = useAccess();
  const asked = isOwner ? undefined : person;
  return useQuery({
    queryKey: keys.soul(soulId, "relations", asked),
    queryFn: () =>
      ask(api.GET("/v1/souls/{soul_id}/relations", { params: { path: { soul_id: soulId }, query: { user_id: asked } } })),
    enabled: useAccess().isSomebody,
  });
}

/** The ids of the people who can be chosen. */
export function usePeople(soulId: string): string[] {
  const known = useRelations(soulId).data ?? [];
  const { userId } = useAccess();
  return [...new Set(["default", userId, ...known.map((relation) => relation.user_id)])];
}

export function PersonPicker({ soulId }: { soulId: string }) {
  const w = useWords(soulWords);
  const { actsForAnybody, userId } = useAccess();
  const setUserId = usePreferences((state) => state.setUserId);
  const people = usePeople(soulId);
  const [search, setSearch] = useState("");
  if (!actsForAnybody) return null;
  const typed = search.trim();
  const isNew = ID.test(typed) && !people.includes(typed);
  return (
    <Select
      aria-label={w.people}
      data={[
        ...people.map((person) => ({ value: person, label: person })),
        ...(isNew ? [{ value: typed, label: w.newPerson(typed) }] : []),
      ]}
      value={userId}
      searchable
      onSearchChange={setSearch}
      onChange={(chosen) => chosen && setUserId(chosen)}
      allowDeselect={false}
      size="sm"
    />
  );
}
