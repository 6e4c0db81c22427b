/**
 * A card or a lorebook can be dropped anywhere. What lies below gets it first: a field for a picture keeps its own, and
 * says so by `data-takes-files`; a page that keeps transcripts says so by `data-takes-transcripts`.
 */

import { Text } from "@mantine/core";
import { IconFileImport } from "@tabler/icons-react";
import { Suspense, useEffect, useState } from "react";

import { useAccess } from "~/access";
import { onDemand } from "~/later";
import { importFiles, useImports } from "~/pages/library/import-jobs";
import { showProblem } from "~/parts/problem";
import { dropWords } from "~/words/drop";
import { useWords } from "~/words/words";
import styles from "./drop.module.css";

const ImportDialog = onDemand(async () => (await import("~/pages/library/import-dialog")).ImportDialog);

export function DropAnywhere() {
  const w = useWords(dropWords);
  const { isServerOwner } = useAccess();
  const importing = useImports((state) => state.jobs.length > 0);
  const over = useDroppedFiles((files) => (isServerOwner ? importFiles(files) : showProblem(w.forbidden)));
  const welcome = {
    nothing: null,
    files: isServerOwner ? w.here : null,
    transcripts: isServerOwner ? w.hereToo : w.transcript,
  }[over];
  return (
    <>
      {welcome && (
        <div className={styles.overlay} aria-hidden>
          <div className={styles.word}>
            <IconFileImport size={28} />
            <Text fw={600}>{welcome}</Text>
          </div>
        </div>
      )}
      {importing && (
        <Suspense>
          <ImportDialog />
        </Suspense>
      )}
    </>
  );
}

type Over = "nothing" | "files" | "transcripts";

/** What is taken where files are being dragged. Files that nobody takes would replace the page. */
function useDroppedFiles(onDrop: (files: File[]) => void): Over {
  const [over, setOver] = useState<Over>("nothing");
  useEffect(() => {
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
    const drag = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(takenAt(event.target));
    };
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver("nothing");
    };
    const drop = (event: DragEvent) => {
      setOver("nothing");
      if (!hasFiles(event) || event.defaultPrevented) return;
      event.preventDefault();
      onDrop([...(event.dataTransfer?.files ?? [])]);
    };
    window.addEventListener("dragover", drag);
    window.addEventListener("dragleave", leave);
    window.addEventListener("drop", drop);
    return () => {
      window.removeEventListener("dragover", drag);
      window.removeEventListener("dragleave", leave);
      window.removeEventListener("drop", drop);
    };
  }, [onDrop]);
  return over;
}

function takenAt(target: EventTarget | null): Over {
  if (!(target instanceof Element)) return "files";
  if (target.closest("[data-takes-files]")) return "nothing";
  return target.closest("[data-takes-transcripts]") ? "transcripts" : "files";
}
