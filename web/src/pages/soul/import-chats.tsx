/** Chats with other programs are brought to a soul: a look at them first, then the import and how far it is. */

import { Alert, Button, FileInput, Group, Loader, Progress, Stack, Table, Text, TextInput } from "@mantine/core";
import { IconUpload } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { Problem } from "~/api/client";
import { keys } from "~/api/queries";
import { Dialog } from "~/parts/dialog";
import { showProblem } from "~/parts/problem";
import { commonWords } from "~/words/common";
import { movingWords } from "~/words/moving";
import { useWords } from "~/words/words";

import { type Chats, type Found, importChats, type Imported, type ImportProgress, percentOf, survey } from "./chat-import";
import type { OfSoul } from "./soul";

const TAKEN = ".zip,.json,.jsonl,.md";
const SHOWN = 50;

export function ImportChats({ soul, onClose }: OfSoul & { onClose: () => void }) {
  const w = useWords(movingWords);
  const common = useWords(commonWords);
  const client = useQueryClient();
  const [file, setFile] = useState<File | null>(null);
  const [userId, setUserId] = useState(soul.user_id);
  const [progress, setProgress] = useState<ImportProgress | null>(null);
  const onError = (error: unknown) =>
    showProblem(error instanceof Problem && error.code === "import_running" ? w.running : error);
  const look = useMutation({ mutationFn: survey, onError });
  const bring = useMutation({
    mutationFn: (chats: Chats) => importChats(chats, setProgress),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.souls }),
    onError,
    onSettled: () => setProgress(null),
  });
  const change = (chosen: File | null) => {
    setFile(chosen);
    look.reset();
    bring.reset();
  };
  const chats = file && { soulId: soul.soul_id, userId: userId.trim() || soul.user_id, file };
  const busy = look.isPending || bring.isPending;
  return (
    <Dialog opened onClose={onClose} title={w.title} size="lg">
      <Stack gap="sm" data-takes-files onDragOver={(event) => event.preventDefault()} onDrop={(event) => {
        event.preventDefault();
        if (!busy) change(event.dataTransfer.files[0] ?? null);
      }}>
        <Text size="sm">{w.text}</Text>
        <FileInput
          label={w.file}
          placeholder={w.filePlaceholder}
          accept={TAKEN}
          value={file}
          onChange={change}
          disabled={busy}
          leftSection={<IconUpload size={16} aria-hidden />}
        />
        <TextInput
          label={w.person}
          value={userId}
          maxLength={128}
          disabled={busy}
          onChange={(event) => {
            setUserId(event.currentTarget.value);
            look.reset();
          }}
        />
        {look.data && !bring.data && <Survey found={look.data} />}
        {bring.isPending && <HowFar progress={progress} />}
        {bring.data && <Result result={bring.data} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {bring.data ? common.close : common.cancel}
          </Button>
          {!bring.data && (
            <>
              <Button variant="light" disabled={!chats || bring.isPending} loading={look.isPending} onClick={() => chats && look.mutate(chats)}>
                {w.look}
              </Button>
              <Button disabled={!chats || look.isPending} loading={bring.isPending} onClick={() => chats && bring.mutate(chats)}>
                {w.start}
              </Button>
            </>
          )}
        </Group>
      </Stack>
    </Dialog>
  );
}

function Survey({ found }: { found: Found }) {
  const w = useWords(movingWords);
  if (!found.conversations && !found.files.length) return <Alert color="yellow">{w.nothing}</Alert>;
  return (
    <Stack gap="xs">
      <Text size="sm" fw={600}>
        {w.found(found.conversations, found.messages, found.new_messages)}
      </Text>
      {found.files.length > 0 && <Text size="sm">{w.files(found.files.join(", "))}</Text>}
      <LeftOutNotes found={found} />
      <div style={{ maxHeight: 260, overflow: "auto" }} tabIndex={0} role="region" aria-label={w.conversations}>
        <Table aria-label={w.conversations} fz="sm" stickyHeader>
          <Table.Thead>
            <Table.Tr>
              {[w.program, w.titled, w.since, w.messages, w.fresh].map((name) => (
                <Table.Th key={name}>{name}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {found.largest.slice(0, SHOWN).map((one) => (
              <Table.Tr key={`${one.program} ${one.conversation_id}`}>
                <Table.Td>{one.program}</Table.Td>
                <Table.Td>{one.title}</Table.Td>
                <Table.Td>{one.since?.slice(0, 10) ?? "–"}</Table.Td>
                <Table.Td>{one.messages.toLocaleString()}</Table.Td>
                <Table.Td>{(one.messages - one.known).toLocaleString()}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
    </Stack>
  );
}

function LeftOutNotes({ found }: { found: Found }) {
  const w = useWords(movingWords);
  return found.left_out.map(({ reason, count, example }) => (
    <Text key={reason} size="xs" c="dimmed">
      {w.leftOut[reason](count)}
      {example && w.like(example)}
    </Text>
  ));
}

function HowFar({ progress }: { progress: ImportProgress | null }) {
  const w = useWords(movingWords);
  const text = w.phase[progress?.phase ?? "reading"];
  const percent = progress && percentOf(progress);
  return (
    <Stack gap={4} role="status">
      <Text size="sm">{text}</Text>
      {percent === null ? <Loader size="xs" aria-hidden /> : <Progress value={percent} aria-label={text} />}
    </Stack>
  );
}

function Result({ result }: { result: Imported }) {
  const w = useWords(movingWords);
  const { messages, conversations, known, slots, files, files_kept: kept } = result.imported;
  return (
    <Alert color="green" role="status">
      <Stack gap={4}>
        <Text size="sm">{w.imported(messages, conversations)}</Text>
        {known > 0 && <Text size="sm">{w.known(known)}</Text>}
        {slots > 0 && <Text size="sm">{w.slots(slots)}</Text>}
        {files.length > 0 && <Text size="sm">{w.files(files.join(", "))}</Text>}
        {kept.length > 0 && <Text size="sm">{w.kept(kept.join(", "))}</Text>}
        <LeftOutNotes found={result} />
      </Stack>
    </Alert>
  );
}
