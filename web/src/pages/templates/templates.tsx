import { Skeleton, Title } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useRef } from "react";
import { useParams } from "react-router";

import { ProblemNote } from "~/parts/problem";
import { commonWords } from "~/words/common";
import { templateWords } from "~/words/templates";
import { useWords } from "~/words/words";
import type { Stored } from "./draft";
import { Editor, Missing } from "./editor";
import { TemplateList, TemplateSelect } from "./list";
import { useTemplates } from "./queries";
import styles from "./templates.module.css";

export default function Templates() {
  const w = useWords(templateWords);
  const common = useWords(commonWords);
  const { templateId } = useParams();
  const templates = useTemplates();
  const wide = useMediaQuery("(min-width: 80em)", true, { getInitialValueInEffect: false });
  const all = templates.data ?? [];
  const found = templateId ? all.find((one) => one.id === templateId) : all[0];
  const chosen = useKept(found, templateId);
  const Choice = wide ? TemplateList : TemplateSelect;
  return (
    <div className={styles.page}>
      <Title order={1} className="visually-hidden">
        {w.title}
      </Title>
      {templates.isPending && <Skeleton role="img" aria-label={common.loading} h={300} />}
      {templates.error && <ProblemNote problem={templates.error} onRetry={() => void templates.refetch()} />}
      {templates.data && <Choice all={all} chosen={chosen?.id} />}
      {chosen && <Editor key={chosen.id} template={chosen} isGone={!found} names={all.map((one) => one.name)} />}
      {templates.data && !chosen && <Missing />}
    </div>
  );
}

/** What is open stays open when others delete it, so that nothing that was written in it is lost. */
function useKept(found: Stored | undefined, id: string | undefined): Stored | undefined {
  const kept = useRef<Stored>(undefined);
  if (found) kept.current = found;
  return found ?? (kept.current?.id === id ? kept.current : undefined);
}
