/** A backup of everything, to the reader's own disk. */

import { Button, Group, Stack, Text, Title } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { askRaw, Problem } from "~/api/client";
import { readWhole } from "~/pages/soul/soul-file";
import { sizeOf } from "~/pages/soul/when";
import { showDone, showProblem } from "~/parts/problem";
import { saveFile } from "~/parts/save-file";
import { movingWords } from "~/words/moving";
import { useWords } from "~/words/words";

export function Backup() {
  const w = useWords(movingWords);
  const [bytes, setBytes] = useState(0);
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const take = useMutation({
    mutationFn: async () => {
      stop.current = new AbortController();
      setBytes(0);
      const { body } = await askRaw("v1/backup", { method: "POST", signal: stop.current.signal });
      return new Blob(body ? await readWhole(body, (progress) => setBytes(progress.bytes)) : [], { type: "application/gzip" });
    },
    onSuccess: (file) => {
      saveFile(file, `soulgraph-${new Date().toISOString().slice(0, 19)}.tar.gz`);
      showDone(w.backupDone(sizeOf(file.size)));
    },
    onError: (error) => {
      const running = error instanceof Problem && error.code === "backup_running";
      if (!stop.current.signal.aborted) showProblem(running ? w.backupRunning : error);
    },
  });
  return (
    <Stack gap="sm">
      <Title order={2} size="h5">
        {w.backup}
      </Title>
      <Text size="sm">{w.backupText}</Text>
      <Group gap="sm">
        <Button leftSection={<IconDownload size={16} aria-hidden />} loading={take.isPending} onClick={() => take.mutate()}>
          {w.backupStart}
        </Button>
        {take.isPending && (
          <Text size="sm" role="status">
            {bytes ? w.backupComing(sizeOf(bytes)) : w.backupTaking}
          </Text>
        )}
      </Group>
    </Stack>
  );
}
