/** Choosing another soul leaves the conversation with this one. */

import { Select } from "@mantine/core";
import { useNavigate } from "react-router";

import { useSouls } from "~/parts/soul-picker";
import { usePreferences } from "~/preferences";
import { commonWords } from "~/words/common";
import { useWords } from "~/words/words";

export function ChatSoulPicker({ soulId }: { soulId: string }) {
  const w = useWords(commonWords);
  const souls = useSouls();
  const navigate = useNavigate();
  const choose = (chosen: string | null) => {
    if (!chosen || chosen === soulId) return;
    usePreferences.getState().setSoulId(chosen);
    void navigate("/chat");
  };
  return (
    <Select
      aria-label={w.soulPicker}
      data={(souls.data ?? []).map((soul) => ({ value: soul.soul_id, label: `${soul.name} · ${soul.mbti_type}` }))}
      value={soulId}
      onChange={choose}
      allowDeselect={false}
      searchable
      style={{ flex: 1, minWidth: 0 }}
    />
  );
}
