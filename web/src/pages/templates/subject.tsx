/** For whom the preview is made, and what they would say. */

import { Group, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import { api, ask } from "~/api/client";
import { keys } from "~/api/queries";
import { useSouls } from "~/parts/soul-picker";
import { templateWords } from "~/words/templates";
import { useWords } from "~/words/words";
import styles from "./templates.module.css";
import type { Subject } from "./use-preview";

export function SubjectForm({ subject, onChange }: { subject: Subject; onChange: (subject: Subject) => void }) {
  const w = useWords(templateWords);
  const souls = useSouls();
  const query = { soul_id: subject.soulId, limit: 200 };
  const sessions = useQuery({
    queryKey: [...keys.sessions(subject.soulId), "all"],
    queryFn: () => ask(api.GET("/v1/sessions", { params: { query } })),
    enabled: subject.soulId !== undefined,
  });
  return (
    <Group gap="xs" align="flex-end">
      <Select
        label={w.previewFor}
        size="xs"
        className={styles.grow}
        data={(souls.data ?? []).map((soul) => ({ value: soul.soul_id, label: soul.name }))}
        value={subject.soulId ?? null}
        allowDeselect={false}
        searchable
        onChange={(soulId) => soulId && onChange({ ...subject, soulId, sessionId: null })}
      />
      <Select
        label={w.inTalk}
        size="xs"
        className={styles.grow}
        data={[
          { value: "", label: w.newTalk },
          ...(sessions.data ?? []).map((one) => ({
            value: one.session_id,
            label: `${one.title || w.untitledTalk} · ${one.user_id}`,
          })),
        ]}
        value={subject.sessionId ?? ""}
        allowDeselect={false}
        searchable
        onChange={(sessionId) => onChange({ ...subject, sessionId: sessionId || null })}
      />
      <TextInput
        label={w.sentence}
        size="xs"
        style={{ flexBasis: "100%" }}
        value={subject.text}
        maxLength={4000}
        onChange={(event) => onChange({ ...subject, text: event.currentTarget.value })}
      />
    </Group>
  );
}
