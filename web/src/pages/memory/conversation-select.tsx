import { Select } from "@mantine/core";

import { useSessionName } from "~/pages/soul/session-name";
import { memoryWords } from "~/words/memory";
import { useWords } from "~/words/words";

import type { Session } from "./view";

interface SelectProps {
  sessions: Session[];
  value: string | null;
  onChange: (sessionId: string | null) => void;
  className?: string;
}

export function ConversationSelect({ sessions, value, onChange, className }: SelectProps) {
  const w = useWords(memoryWords);
  const nameOf = useSessionName();
  return (
    <Select
      label={w.conversation}
      data={sessions.map((session) => ({ value: session.session_id, label: nameOf(session) }))}
      value={value}
      onChange={onChange}
      allowDeselect={false}
      searchable
      className={className}
    />
  );
}
