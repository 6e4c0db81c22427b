/** A template and its preview, side by side or, on a narrow screen, behind two tabs. */

import { Tabs } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useMemo, useState } from "react";

import { useAccess } from "~/access";
import { LeaveGuard } from "~/parts/leave";
import { useSoul } from "~/parts/soul-picker";
import { templateWords } from "~/words/templates";
import { useWords } from "~/words/words";
import type { Stored } from "./draft";
import { Layers } from "./layers";
import { type Mistakes, mistakesOf } from "./mistakes";
import { PreviewPanel } from "./preview";
import { useVariables } from "./queries";
import styles from "./templates.module.css";
import { Toolbar } from "./toolbar";
import { type Drafting, useDraft } from "./use-draft";
import { type Preview, type Subject, usePreview } from "./use-preview";

const NONE: Mistakes = { modules: {}, others: [] };

export function Editor({ template, names }: { template: Stored; names: string[] }) {
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
  const editing = (
    <section className={`panel ${styles.panel}`} aria-label={template.name}>
      <Toolbar template={template} drafting={drafting} readOnly={readOnly} mayCreate={access.isServerOwner} names={names} />
      <div className={styles.scroll}>
        <Layers
          draft={drafting.draft}
          edit={drafting.edit}
          readOnly={readOnly}
          variables={variables.data ?? []}
          mistakes={mistakes}
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
