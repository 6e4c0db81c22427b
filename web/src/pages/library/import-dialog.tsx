/** What becomes of a file: a character, entries of a lore, or a clear no. */

import { Button, Group, Loader, Stack, Text, Title } from "@mantine/core";
import { IconCheck, IconFileX } from "@tabler/icons-react";
import { useNavigate } from "react-router";

import { useAccess } from "~/access";
import { CharacterAvatar } from "~/parts/character-avatar";
import { Dialog } from "~/parts/dialog";
import { problemText } from "~/parts/problem";
import { commonWords } from "~/words/common";
import { libraryWords } from "~/words/library";
import { useWords } from "~/words/words";
import { finish, type Job, useImports } from "./import-jobs";
import { ImportLorebook } from "./import-lorebook";
import styles from "./library.module.css";
import { MakeSoulForm } from "./make-soul";
import { Notes } from "./notes";
import { pathOf } from "./queries";

export function ImportDialog() {
  const w = useWords(libraryWords);
  const jobs = useImports((state) => state.jobs);
  const job = jobs[0];
  if (!job) return null;
  const close = () => finish(job.id);
  const busy = job.step === "reading" || job.step === "importing";
  return (
    <Dialog key={job.id} opened onClose={() => !busy && close()} title={w.importTitle(job.file.name)} size="lg">
      <Stack gap="md">
        <JobView job={job} onClose={close} />
        {jobs.length > 1 && (
          <Text size="xs" c="dimmed">
            {w.more(jobs.length - 1)}
          </Text>
        )}
      </Stack>
    </Dialog>
  );
}

function JobView({ job, onClose }: { job: Job; onClose: () => void }) {
  const w = useWords(libraryWords);
  switch (job.step) {
    case "reading":
    case "importing":
      return (
        <Group role="status">
          <Loader size="sm" />
          <Text size="sm">{job.step === "reading" ? w.reading : w.importing}</Text>
        </Group>
      );
    case "card":
      return <Imported character={job.character} onClose={onClose} />;
    case "lorebook":
      return <ImportLorebook file={job.file} onClose={onClose} />;
    case "unknown":
      return <Refused reason={w.refusedUnknown} onClose={onClose} />;
    case "too-large":
      return <Refused reason={w.refusedLarge} onClose={onClose} />;
    case "refused":
      return <Refused reason={problemText(job.problem)} onClose={onClose} />;
  }
}

function Refused({ reason, onClose }: { reason: string; onClose: () => void }) {
  const w = useWords(libraryWords);
  const common = useWords(commonWords);
  return (
    <Stack role="alert" gap="sm">
      <Group gap="xs" wrap="nowrap">
        <IconFileX size={20} aria-hidden className={styles.bad} />
        <Title order={2} size="h5">
          {w.refusedTitle}
        </Title>
      </Group>
      <Text size="sm" style={{ overflowWrap: "anywhere" }}>
        {reason}
      </Text>
      <Group justify="flex-end">
        <Button onClick={onClose}>{common.close}</Button>
      </Group>
    </Stack>
  );
}

function Imported({ character, onClose }: { character: Extract<Job, { step: "card" }>["character"]; onClose: () => void }) {
  const w = useWords(libraryWords);
  const { isSomebody } = useAccess();
  const navigate = useNavigate();
  const open = () => {
    onClose();
    void navigate(pathOf("characters", character.id));
  };
  return (
    <Stack gap="md">
      <Group wrap="nowrap">
        <CharacterAvatar character={character} size={72} />
        <Stack gap={2} style={{ minWidth: 0 }}>
          <Group gap={6} wrap="nowrap" role="status">
            <IconCheck size={18} aria-hidden className={styles.good} />
            <Text fw={600}>{w.imported(character.name)}</Text>
          </Group>
          <Text size="sm" c="dimmed" lineClamp={2}>
            {character.description}
          </Text>
        </Stack>
      </Group>
      <Notes notes={character.notes} />
      <Group justify="flex-end">
        <Button variant="default" onClick={open}>
          {w.openIt}
        </Button>
      </Group>
      {isSomebody && (
        <section className={styles.inset} aria-label={w.makeSoul}>
          <Title order={2} size="h5" mb="xs">
            {w.makeSoul}
          </Title>
          <MakeSoulForm character={character} onMade={onClose} />
        </section>
      )}
    </Stack>
  );
}
