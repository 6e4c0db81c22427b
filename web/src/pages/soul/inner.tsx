/** What a soul thinks and notes, about itself and about each person. Only owners see it. */

import { Group, Select, Stack } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, ask, Problem } from "~/api/client";
import { keys } from "~/api/queries";
import { showDone, showProblem } from "~/parts/problem";
import { commonWords } from "~/words/common";
import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import { dropDraft } from "./drafts";
import { DraftArea } from "./draft-area";
import { useRelations } from "./person";
import { Empty, Read, Section } from "./section";
import type { OfSoul } from "./soul";
import css from "./soul.module.css";
import { Versions } from "./versions";

const ITSELF = "";
const MOST_THOUGHT = 1200;
const MOST_NOTES = 2000;

export function Inner({ soul }: OfSoul) {
  const w = useWords(soulWords);
  const relations = useRelations(soul.soul_id);
  const [about, setAbout] = useState(ITSELF);
  const people = (relations.data ?? []).map(({ user_id }) => ({ value: user_id, label: user_id }));
  return (
    <Stack gap={14}>
      <Group>
        <Select
          label={w.about}
          data={[{ value: ITSELF, label: w.aboutItself }, ...people]}
          value={about}
          onChange={(person) => setAbout(person ?? ITSELF)}
          allowDeselect={false}
          size="sm"
        />
      </Group>
      <div className={css.columns} key={about}>
        <Monologue soulId={soul.soul_id} about={about || undefined} />
        <Notes soulId={soul.soul_id} about={about || undefined} />
      </div>
      <MonologueVersions soulId={soul.soul_id} about={about || undefined} key={`${about}-versions`} />
    </Stack>
  );
}

interface AboutProps {
  soulId: string;
  about: string | undefined;
}

const paramsOf = (soulId: string, about: string | undefined) => ({
  path: { soul_id: soulId },
  query: { user_id: about },
});

function Monologue({ soulId, about }: AboutProps) {
  const w = useWords(soulWords);
  const params = paramsOf(soulId, about);
  return (
    <Writing
      soulId={soulId}
      about={about}
      kind="inner"
      title={w.innerTitle}
      text={w.innerText}
      read={async () => (await ask(api.GET("/v1/souls/{soul_id}/inner-state", { params }))).inner_state}
      write={(inner_state) => ask(api.PUT("/v1/souls/{soul_id}/inner-state", { params, body: { inner_state } }))}
      most={MOST_THOUGHT}
      submit={w.innerSave}
    />
  );
}

function Notes({ soulId, about }: AboutProps) {
  const w = useWords(soulWords);
  const common = useWords(commonWords);
  const params = paramsOf(soulId, about);
  return (
    <Writing
      soulId={soulId}
      about={about}
      kind="notes"
      title={w.notesTitle}
      text={w.notesText}
      read={async () => (await ask(api.GET("/v1/souls/{soul_id}/scratch-area", { params }))).scratch_area}
      write={(scratch_area) => ask(api.PUT("/v1/souls/{soul_id}/scratch-area", { params, body: { scratch_area } }))}
      most={MOST_NOTES}
      mayBeEmpty
      submit={common.save}
    />
  );
}

interface WritingProps extends AboutProps {
  kind: string;
  title: string;
  text: string;
  read: () => Promise<string>;
  write: (text: string) => Promise<unknown>;
  most: number;
  mayBeEmpty?: boolean;
  submit: string;
}

/** Something that the soul has written and an owner may write anew. */
function Writing({ soulId, about, kind, title, text, read, write, ...area }: WritingProps) {
  const w = useWords(soulWords);
  const common = useWords(commonWords);
  const client = useQueryClient();
  const draft = `${soulId}/${kind}/${about ?? ""}`;
  const written = useQuery({
    queryKey: keys.soul(soulId, kind, about ?? null),
    queryFn: () => read().catch(nullIfUnknown),
  });
  const save = useMutation({
    mutationFn: write,
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: keys.soul(soulId) });
      dropDraft(draft);
      showDone(common.saved);
    },
    onError: showProblem,
  });
  return (
    <Section title={title} text={text}>
      <Read query={written}>
        {(saved) =>
          saved === null ? (
            <Empty>{w.notKnown}</Empty>
          ) : (
            <DraftArea id={draft} label={title} saved={saved} pending={save.isPending} onSave={save.mutate} {...area} />
          )
        }
      </Read>
    </Section>
  );
}

function nullIfUnknown(error: unknown): null {
  if (error instanceof Problem && error.status === 404) return null;
  throw error;
}

function MonologueVersions({ soulId, about }: AboutProps) {
  const w = useWords(soulWords);
  const client = useQueryClient();
  const params = paramsOf(soulId, about);
  const versions = useQuery({
    queryKey: keys.soul(soulId, "inner-versions", about ?? null),
    queryFn: () => ask(api.GET("/v1/souls/{soul_id}/inner-state/versions", { params })),
  });
  const restore = useMutation({
    mutationFn: (n: number) => {
      const path = { soul_id: soulId, n };
      return ask(api.POST("/v1/souls/{soul_id}/inner-state/versions/{n}/restore", { params: { ...params, path } }));
    },
    onSuccess: async (_, n) => {
      await client.invalidateQueries({ queryKey: keys.soul(soulId) });
      showDone(w.restored(n));
    },
    onError: showProblem,
  });
  return (
    <Section title={w.versions}>
      <Read query={versions}>
        {(data) => (
          <Versions
            versions={data.map(({ inner_state: text, ...version }) => ({ ...version, text }))}
            none={w.noVersions}
            onRestore={restore.mutate}
            restoring={restore.isPending}
          />
        )}
      </Read>
    </Section>
  );
}
