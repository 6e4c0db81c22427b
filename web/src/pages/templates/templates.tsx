import { Center, Skeleton, Text, Title } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useParams } from "react-router";

import { ProblemNote } from "~/parts/problem";
import { commonWords } from "~/words/common";
import { templateWords } from "~/words/templates";
import { useWords } from "~/words/words";
import { Editor } from "./editor";
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
  const chosen = templateId ? all.find((one) => one.id === templateId) : all[0];
  const Choice = wide ? TemplateList : TemplateSelect;
  return (
    <div className={styles.page}>
      <Title order={1} className="visually-hidden">
        {w.title}
      </Title>
      {templates.isPending && <Skeleton role="img" aria-label={common.loading} h={300} />}
      {templates.error && <ProblemNote problem={templates.error} onRetry={() => void templates.refetch()} />}
      {templates.data && <Choice all={all} chosen={chosen?.id} />}
      {chosen && <Editor key={chosen.id} template={chosen} names={all.map((one) => one.name)} />}
      {templates.data && !chosen && (
        <Center p="xl">
          <Text c="dimmed">{w.missing}</Text>
        </Center>
      )}
    </div>
  );
}
