/** A template and its preview, side by side or, on a narrow screen, behind two tabs. */

import { Center, Tabs, Text } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useMemo, useState } from "react";

import { useAccess } from "~/access";
import { LeaveGuard } from "~/parts/leave";
import { useSoul } from "~/parts/soul-picker";
import { templateWords } from "~/words/templates";
import { useWords } from "~/words/words";
import type { Stored } from "./draft";
import { Layers } from "./layers";
import { leftoversOf } from "./leftovers";
import { type Leftovers, LeftoversNote } from "./leftovers-note";
import { type Mistakes, mistakesOf } from "./mistakes";
import { PreviewPanel } from "./preview";
import { useVariables } from "./queries";
import styles from "./templates.module.css";
import { Toolbar } from "./toolbar";
import { type Drafting, useDraft } from "./use-draft";
import { type Preview, type Subject, usePreview } from "./use-preview";

const NONE: Mistakes = { modules: {}, others: [] };

interface EditorProps {
  template: Stored;
  /** Others have deleted it; what was written in it can still be saved. */
  isGone: boolean;
  names: string[];
}

export function Editor({ template, isGone, names }: EditorProps) {
  const w = useWords(templateWords);
  const access = useAccess();
  const drafting = useDraft(template);
  const [subject, setSubject] = useSubject();
  const preview = usePreview(template, drafting.draft, subject, access.isOwner);
  const [openKey, setOpenKey] = useState<string | null>(null);
  const variables = useVariables();
  const narrow = useMediaQuery("(max-width: 62em)", false, { getInitialValueInEffect: false });
  const readOnly = template.shipped || !access.isServerOwner;
  const mistakes = useMistakes(preview, drafting);
  // Of what was previewed last: while a variable is being typed it is not complained of.
  const leftovers: Leftovers = useMemo(() => {
    const known = variables.data;
    return Object.fromEntries(known ? preview.sent.modules.map((module) => [module.key, leftoversOf(module, known)]) : []);
  }, [preview.sent, variables.data]);
  const editing = (
    <section className={`panel ${styles.panel}`} aria-label={template.name}>
      <Toolbar
        template={template}
        drafting={drafting}
        isGone={isGone}
        readOnly={readOnly}
        mayCreate={access.isServerOwner}
        names={names}
      />
      <div className={styles.scroll}>
        <LeftoversNote draft={drafting.draft} leftovers={leftovers} onOpen={setOpenKey} />
        <Layers
          draft={drafting.draft}
          edit={drafting.edit}
          readOnly={readOnly}
          variables={variables.data ?? []}
          mistakes={mistakes}
          leftovers={leftovers}
          sizes={preview.shown?.sizes ?? {}}
          openKey={openKey}
          onOpen={setOpenKey}
        />
      </div>
    </section>
  );
  const previewing = (
    <PreviewPanel preview={preview} subject={subject} onSubject={setSubject} mistakes={mistakes} editedKey={openKey} />
  );
  if (isGone && !drafting.unsaved) return <Missing />;
  return (
    <>
      <LeaveGuard unsaved={drafting.unsaved} />
      {!access.isOwner && editing}
      {access.isOwner && !narrow && (
        <div className={styles.work}>
          {editing}
          {previewing}
        </div>
      )}
      {access.isOwner && narrow && (
        <Tabs defaultValue="edit" className={styles.tabs}>
          <Tabs.List grow mb="xs">
            <Tabs.Tab value="edit">{w.edit}</Tabs.Tab>
            <Tabs.Tab value="preview">{w.preview}</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="edit">{editing}</Tabs.Panel>
          <Tabs.Panel value="preview">{previewing}</Tabs.Panel>
        </Tabs>
      )}
    </>
  );
}

export function Missing() {
  const w = useWords(templateWords);
  return (
    <Center p="xl">
      <Text c="dimmed">{w.missing}</Text>
    </Center>
  );
}

/** What the preview objects to, else what saving did, for as long as nothing was changed since. */
function useMistakes(preview: Preview, { draft, saving }: Drafting): Mistakes {
  return useMemo(() => {
    if (preview.problem) return mistakesOf(preview.problem, preview.sent);
    const { refusal } = saving;
    return refusal?.sent === draft ? mistakesOf(refusal.problem, draft) : NONE;
  }, [preview.problem, preview.sent, saving.refusal, draft]);
}

function useSubject() {
  const w = useWords(templateWords);
  const access = useAccess();
  const { soul } = useSoul();
  const [chosen, setChosen] = useState<Partial<Subject>>({});
  const subject: Subject = useMemo(
    () => ({
      soulId: chosen.soulId ?? soul?.soul_id,
      sessionId: chosen.sessionId ?? null,
      userId: access.person,
      text: chosen.text ?? w.example,
    }),
    [chosen, soul?.soul_id, access.person, w.example],
  );
  return [subject, setChosen] as const;
}
