/** A transcript may be dropped anywhere on the page. What is no transcript is left to the frame. */

import { Overlay, Text } from "@mantine/core";
import type { DragEvent, ReactNode } from "react";

import { useImport } from "~/pages/chat/files";
import { chatWords } from "~/words/chat";
import { useWords } from "~/words/words";
import c from "./chat.module.css";

const isTranscript = (file: File) => /\.(jsonl|ndjson)$/i.test(file.name);

export function DropZone({ children }: { children: ReactNode }) {
  const w = useWords(chatWords);
  const importing = useImport();
  const dropped = (event: DragEvent) => {
    const files = [...event.dataTransfer.files];
    if (!files.length || !files.every(isTranscript)) return;
    event.preventDefault();
    for (const file of files) importing.mutate(file);
  };
  return (
    <div className={c.drop} data-takes-transcripts onDrop={dropped}>
      {children}
      {importing.isPending && (
        <Overlay center backgroundOpacity={0.7} blur={2}>
          <Text size="lg" fw={600} c="white" role="status">
            {w.importing}
          </Text>
        </Overlay>
      )}
    </div>
  );
}
