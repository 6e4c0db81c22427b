/** Which soul a page is about. The choice goes from page to page. */

import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";

import { api, ask } from "~/api/client";
import { keys } from "~/api/queries";
import { usePreferences } from "~/preferences";
import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";

export function useSouls() {
  return useQuery({ queryKey: keys.souls, queryFn: () => ask(api.GET("/v1/souls")) });
}

/** The chosen soul, else the first; undefined while there is none, or they are being read. */
export function useSoul() {
  const souls = useSouls();
  const { soulId, setSoulId } = usePreferences();
  const soul = souls.data?.find((one) => one.soul_id === soulId) ?? souls.data?.[0];
  useEffect(() => {
    if (soul && soul.soul_id !== soulId) setSoulId(soul.soul_id);
  }, [soul, soulId, setSoulId]);
  return { soul, isPending: souls.isPending, error: souls.error };
}

export function SoulPicker() {
  const w = useWords(commonWords);
  const souls = useSouls();
  const { soulId, setSoulId } = usePreferences();
  return (
    <Select
      aria-label={w.soulPicker}
      placeholder={w.noSoul}
      data={(souls.data ?? []).map((soul) => ({ value: soul.soul_id, label: `${soul.name} · ${soul.mbti_type}` }))}
      value={soulId}
      onChange={(chosen) => chosen && setSoulId(chosen)}
      allowDeselect={false}
      searchable
      size="sm"
    />
  );
}
