/** A whole soul out to a file, and in from one. */

import { Button, FileInput, Group, Loader, Progress as Bar, Stack, Text, TextInput } from "@mantine/core";
import { IconUpload } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { askRaw, type Schemas } from "~/api/client";
import { keys } from "~/api/queries";
import { Dialog, FormDialog } from "~/parts/dialog";
import { showDone, showProblem } from "~/parts/problem";
import { saveFile } from "~/parts/save-file";
import { usePreferences } from "~/preferences";
import { commonWords } from "~/words/common";
import { soulWords } from "~/words/soul";
import { useWords } from "~/words/words";

import { fileName, type Progress, readWhole } from "./soul-file";
import type { OfSoul } from "./soul";
import { sizeOf } from "./when";

const FILE_TYPE = "application/x-ndjson";

export function ExportDialog({ soul, onClose }: OfSoul & { onClose: () => void }) {
  const w = useWords(soulWords);
  const common = useWords(commonWords);
  const [progress, setProgress] = useState<Progress | null>(null);
  const [total, setTotal] = useState(0);
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const write = useMutation({
    mutationFn: async () => {
      stop.current = new AbortController();
      setProgress({ bytes: 0, lines: 0 });
      const path = `v1/souls/${encodeURIComponent(soul.soul_id)}/export`;
      const { body, headers } = await askRaw(path, { signal: stop.current.signal });
      setTotal(Number(headers.get("content-length")));
      return new Blob(body ? await readWhole(body, setProgress) : [], { type: FILE_TYPE });
    },
    onSuccess: (file) => {
      saveFile(file, fileName(soul.name, new Date()));
      showDone(w.exportDone(sizeOf(file.size)));
      onClose();
    },
    onError: (error) => {
      setProgress(null);
      if (!stop.current.signal.aborted) showProblem(error);
    },
  });
  return (
    <Dialog opened onClose={onClose} title={w.exportTitle}>
      <Stack gap="sm">
        <Text size="sm">{w.exportText}</Text>
        {write.isPending && progress && <Come progress={progress} total={total} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={() => (write.isPending ? stop.current.abort() : onClose())}>
            {write.isPending ? w.exportStop : common.cancel}
          </Button>
          <Button onClick={() => write.mutate()} loading={write.isPending} data-autofocus>
            {w.exportStart}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}

/** A server that does not say how much there will be says at least that something comes. */
function Come({ progress, total }: { progress: Progress; total: number }) {
  const w = useWords(soulWords);
  const text = w.exportRead(sizeOf(progress.bytes), progress.lines);
  const percent = total > 0 ? Math.min(100, (100 * progress.bytes) / total) : 0;
  return (
    <Stack gap={4}>
      <Text size="sm">{text}</Text>
      {total > 0 ? <Bar value={percent} aria-label={text} /> : <Loader size="xs" aria-hidden />}
    </Stack>
  );
}

export function ImportSoul() {
  const w = useWords(soulWords);
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button leftSection={<IconUpload size={16} aria-hidden />} onClick={() => setOpen(true)}>
        {w.importSoul}
      </Button>
      {open && <ImportDialog onClose={() => setOpen(false)} />}
    </>
  );
}

export function ImportDialog({ onClose }: { onClose: () => void }) {
  const w = useWords(soulWords);
  const client = useQueryClient();
  const setSoulId = usePreferences((state) => state.setSoulId);
  const [file, setFile] = useState<File | null>(null);
  const [name, setName] = useState("");
  const read = useMutation({
    mutationFn: async () => {
      const query = name.trim() ? `?${new URLSearchParams({ name: name.trim() })}` : "";
      const headers = { "content-type": FILE_TYPE };
      const answer = await askRaw(`v1/souls/import${query}`, { method: "POST", body: file, headers });
      return (await answer.json()) as Schemas["SoulOut"];
    },
    onSuccess: async (soul) => {
      await client.invalidateQueries({ queryKey: keys.souls });
      setSoulId(soul.soul_id);
      showDone(w.imported(soul.name));
      onClose();
    },
    onError: showProblem,
  });
  return (
    <FormDialog
      title={w.importTitle}
      submit={w.importStart}
      pending={read.isPending}
      ready={file !== null}
      onSubmit={read.mutate}
      onClose={onClose}
    >
      <Text size="sm">{w.importText}</Text>
      <FileInput
        label={w.importFile}
        placeholder={w.importFilePlaceholder}
        accept=".jsonl,.ndjson,.json,application/x-ndjson"
        value={file}
        onChange={setFile}
        leftSection={<IconUpload size={16} aria-hidden />}
      />
      <TextInput
        label={w.importName}
        description={w.importNameHint}
        value={name}
        maxLength={80}
        onChange={(event) => setName(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
