/** Conversations as JSONL files, out and in. */

import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "react-router";

import { useAccess } from "~/access";
import { askRaw, Problem } from "~/api/client";
import { keys, queryClient } from "~/api/queries";
import { openDialog } from "~/pages/chat/dialog-state";
import { readerOf, type Session } from "~/pages/chat/sessions";
import { showDone, showProblem } from "~/parts/problem";
import { saveFile } from "~/parts/save-file";
import { usePreferences } from "~/preferences";
import { chatWords } from "~/words/chat";
import { useWords } from "~/words/words";

type Imported = Session & { messages: number };

/** A name that every file system takes. */
export function fileName(title: string, sessionId: string): string {
  const words = title.replace(/[\\/:*?"<>|\s\p{Cc}]+/gu, " ").trim().slice(0, 60);
  return `${words || sessionId}.jsonl`;
}

function withPerson(path: string, query: Record<string, string | undefined>): string {
  const given = Object.entries(query).filter((one): one is [string, string] => one[1] !== undefined);
  return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}

export function useExport() {
  const reader = readerOf(useAccess());
  return useMutation({
    mutationFn: async (session: Session) => {
      const path = `v1/sessions/${encodeURIComponent(session.session_id)}/export`;
      const file = await (await askRaw(withPerson(path, { user_id: reader }))).blob();
      saveFile(file, fileName(session.title, session.session_id));
    },
    onError: showProblem,
  });
}

export function useImport() {
  const w = useWords(chatWords);
  const { person } = useAccess();
  const navigate = useNavigate();
  const mutation = useMutation({
    mutationFn: async (file: File) => {
      const soulId = usePreferences.getState().soulId ?? "";
      const path = withPerson("v1/sessions/import", { soul_id: soulId, user_id: person });
      const answer = await askRaw(path, {
        method: "POST",
        body: file,
        headers: { "content-type": "application/x-ndjson" },
      });
      return (await answer.json()) as Imported;
    },
    onSuccess: (session) => {
      showDone(w.imported(session.messages));
      void queryClient.invalidateQueries({ queryKey: keys.sessions() });
      void navigate(`/chat/${encodeURIComponent(session.session_id)}`);
    },
    onError: (problem, file) => refused(problem, file),
  });
  const choose = () => {
    const input = document.createElement("input");
    input.type = "file";
    input.accept = ".jsonl,.ndjson,application/x-ndjson";
    input.onchange = () => input.files?.[0] && mutation.mutate(input.files[0]);
    input.click();
  };
  return { ...mutation, choose };
}

/** A file that cannot be read is told about with the line at fault. */
function refused(problem: unknown, file: File): void {
  if (!(problem instanceof Problem) || problem.status !== 422) return showProblem(problem);
  const line = typeof problem.more.line === "number" ? problem.more.line : null;
  openDialog({ kind: "import-failed", file: file.name, line, detail: problem.detail });
}
