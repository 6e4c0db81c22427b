/** The exact prompt beside the template: how large it is, what was cut, where it comes from. */

import { Badge, Button, Group, Loader, Skeleton, Stack, Text, Title } from "@mantine/core";
import { Link } from "react-router";

import { ProblemNote } from "~/parts/problem";
import { useSouls } from "~/parts/soul-picker";
import { templateWords } from "~/words/templates";
import { useWords } from "~/words/words";
import { hasMistakes, type Mistakes } from "./mistakes";
import { PromptMessages } from "./prompt";
import { SubjectForm } from "./subject";
import styles from "./templates.module.css";
import type { Preview, Prompt, Subject } from "./use-preview";

interface PreviewPanelProps {
  preview: Preview;
  subject: Subject;
  onSubject: (subject: Subject) => void;
  mistakes: Mistakes;
  editedKey: string | null;
}

export function PreviewPanel({ preview, subject, onSubject, mistakes, editedKey }: PreviewPanelProps) {
  const w = useWords(templateWords);
  const { shown, problem } = preview;
  return (
    <section className={`panel ${styles.panel}`} aria-label={w.preview}>
      <Group justify="space-between" mih={28}>
        <Title order={2} size="h5">
          {w.preview}
        </Title>
        <Group gap="xs" role="status">
          {preview.isUpdating && <Loader size={14} role="img" aria-label={w.updating} />}
          {shown && (
            <Text size="sm" fw={600} data-testid="total">
              {w.total}: {w.size(shown.prompt.tokens, shown.prompt.characters)}
            </Text>
          )}
        </Group>
      </Group>
      <SubjectForm subject={subject} onChange={onSubject} />
      <div className={styles.scroll} tabIndex={0} role="region" aria-label={w.prompt}>
        <Stack gap="xs">
          <NoSoul />
          {problem && !hasMistakes(problem) && <ProblemNote problem={problem} onRetry={preview.refresh} />}
          {problem && hasMistakes(problem) && (
            <div role="alert" className={styles.mistakes}>
              <Text size="sm" fw={600}>
                {w.mistakes}
              </Text>
              {[...mistakes.others, ...named(mistakes, preview)].map((mistake) => (
                <Text key={mistake} size="xs">
                  {mistake}
                </Text>
              ))}
              {shown && (
                <Text size="xs" c="dimmed">
                  {w.lastGood}
                </Text>
              )}
            </div>
          )}
          {shown && <Facts prompt={shown.prompt} />}
          {shown && <PromptMessages prompt={shown.prompt} edited={editedKey ? shown.sizes[editedKey] : undefined} />}
          {!shown && preview.isUpdating && <Skeleton h={240} />}
        </Stack>
      </div>
    </section>
  );
}

function named({ modules }: Mistakes, { sent }: Preview): string[] {
  return sent.modules.flatMap(({ key, name }) => (modules[key] ?? []).map((mistake) => `${name}: ${mistake}`));
}

function NoSoul() {
  const w = useWords(templateWords);
  const souls = useSouls();
  if (souls.data?.length !== 0) return null;
  return (
    <Stack align="flex-start" gap="xs">
      <Text size="sm">{w.needSoul}</Text>
      <Button component={Link} to="/library" size="xs" variant="light">
        {w.toLibrary}
      </Button>
    </Stack>
  );
}

function Facts({ prompt }: { prompt: Prompt }) {
  const w = useWords(templateWords);
  return (
    <Stack gap={6}>
      {prompt.cut.length > 0 && (
        <Group gap={4} data-testid="cut">
          <Text size="xs" c="orange">
            {w.cut}:
          </Text>
          {prompt.cut.map((name) => (
            <Badge key={name} size="sm" variant="light" color="orange" tt="none">
              {name}
            </Badge>
          ))}
        </Group>
      )}
      <details className={styles.sources}>
        <summary>
          {w.sources}: {prompt.sources.length === 0 ? w.noSources : prompt.sources.length} · {w.memories(prompt.memory_hits)}
        </summary>
        <Group gap={4} pt={4}>
          {prompt.sources.map((source) => (
            <Badge key={source} size="sm" variant="default" tt="none" ff="monospace" className={styles.source}>
              {source}
            </Badge>
          ))}
        </Group>
      </details>
    </Stack>
  );
}
