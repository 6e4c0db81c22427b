/** What a person wants for good, and the words from which the soul knows it. */

import { ActionIcon, Button, Group, Text } from "@mantine/core";
import { IconPencil, IconPlus } from "@tabler/icons-react";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { useAccess } from "~/access";
import { api, ask, type Schemas } from "~/api/client";
import { keys } from "~/api/queries";
import { showProblem } from "~/parts/problem";
import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import { DeleteButton } from "./delete-button";
import { evidenceText, PreferenceDialog } from "./preference-dialog";
import { Empty, Read, Section } from "./section";
import { SharedBadge } from "./sharing";
import css from "./soul.module.css";
import { useSourceText } from "./source";
import { useWhen } from "./when";

type Preference = Schemas["PreferenceOut"];

export function usePreferencesOf(soulId: string) {
  const { person } = useAccess();
  const query = { user_id: person };
  return useQuery({
    queryKey: keys.soul(soulId, "preferences", person),
    queryFn: () => ask(api.GET("/v1/souls/{soul_id}/preferences", { params: { path: { soul_id: soulId }, query } })),
  });
}

export function Preferences({ soulId }: { soulId: string }) {
  const w = useWords(soulWords);
  const { userId } = useAccess();
  const preferences = usePreferencesOf(soulId);
  const [opened, setOpened] = useState<Preference | "new" | null>(null);
  const add = (
    <Button
      size="compact-xs"
      variant="light"
      leftSection={<IconPlus size={14} aria-hidden />}
      onClick={() => setOpened("new")}
    >
      {w.addPreference}
    </Button>
  );
  return (
    <Section title={w.preferences} text={w.preferencesText(userId)} actions={add}>
      <Read query={preferences}>
        {(data) =>
          data.length === 0 ? (
            <Empty>{w.noPreferences}</Empty>
          ) : (
            <ul className={css.plain}>
              {data.map((one) => (
                <OnePreference key={one.key} soulId={soulId} preference={one} onEdit={() => setOpened(one)} />
              ))}
            </ul>
          )
        }
      </Read>
      {opened && (
        <PreferenceDialog
          soulId={soulId}
          preference={opened === "new" ? null : opened}
          onClose={() => setOpened(null)}
        />
      )}
    </Section>
  );
}

interface OneProps {
  soulId: string;
  preference: Preference;
  onEdit: () => void;
}

function OnePreference({ soulId, preference, onEdit }: OneProps) {
  const w = useWords(soulWords);
  const when = useWhen();
  const sourceText = useSourceText();
  const remove = useDeletePreference(soulId);
  const { key, value, confidence, source, evidence } = preference;
  return (
    <li className={css.row}>
      <div className={css.grow}>
        <Text size="sm">
          <Text span fw={600} size="sm">
            {key}
          </Text>{" "}
          {value}
        </Text>
        <Text size="xs" c="dimmed">
          {w.sure(Math.round(100 * confidence))} · {sourceText(source)} · {when.time(preference.updated_at)}
        </Text>
        {evidence.map((words, at) => (
          <Text key={at} size="xs" fs="italic">
            “{evidenceText(words)}”
          </Text>
        ))}
        <Group gap={6}>
          {evidence.length === 0 && (
            <Text size="xs" c="dimmed">
              {w.noEvidence}
            </Text>
          )}
          <SharedBadge people={preference.shared_with} />
        </Group>
      </div>
      <ActionIcon variant="subtle" color="gray" aria-label={w.editPreference(key)} onClick={onEdit}>
        <IconPencil size={16} aria-hidden />
      </ActionIcon>
      <DeleteButton
        question={w.deletePreferenceAsk}
        label={w.deletePreference(key)}
        loading={remove.isPending}
        onConfirm={() => remove.mutate(key)}
      />
    </li>
  );
}

function useDeletePreference(soulId: string) {
  const { person } = useAccess();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (key: string) => {
      const params = { path: { soul_id: soulId, key }, query: { user_id: person } };
      return ask(api.DELETE("/v1/souls/{soul_id}/preferences/{key}", { params }));
    },
    onSuccess: () => client.invalidateQueries({ queryKey: keys.soul(soulId) }),
    onError: showProblem,
  });
}
