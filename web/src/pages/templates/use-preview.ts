/** The exact prompt of a draft that is stored nowhere. The last good one stays while there are mistakes. */

import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";

import { api, ask, type Schemas } from "~/api/client";
import { bodyOf, type Draft, type Stored } from "./draft";

export type Prompt = Schemas["PreviewOut"];
export type Size = Schemas["ModuleOut"];

/** For whom and to which words the prompt would be made. */
export interface Subject {
  soulId: string | undefined;
  sessionId: string | null;
  userId: string | undefined;
  text: string;
}

export interface Shown {
  prompt: Prompt;
  /** By the key of the module. */
  sizes: Record<string, Size>;
}

const DEBOUNCE_MS = 400;

export function usePreview(template: Stored, draft: Draft, subject: Subject, allowed: boolean) {
  const now = useMemo(() => ({ draft, subject }), [draft, subject]);
  const [wanted] = useDebouncedValue(now, DEBOUNCE_MS);
  const [good, setGood] = useState<Shown | null>(null);
  const ready = allowed && wanted.subject.soulId !== undefined && wanted.subject.text.trim() !== "";
  const query = useQuery({
    queryKey: ["template-preview", template.id, template.shipped, wanted],
    queryFn: ({ signal }) => (template.shipped ? asSaved : asDraft)(template, wanted.draft, wanted.subject, signal),
    enabled: ready,
    gcTime: 30_000,
  });
  useEffect(() => {
    if (query.data) setGood(query.data);
  }, [query.data]);
  return {
    shown: good,
    problem: query.error,
    /** The draft that the problem is about. */
    sent: wanted.draft,
    isUpdating: query.isFetching || (ready && wanted !== now),
    refresh: () => void query.refetch(),
  };
}

export type Preview = ReturnType<typeof usePreview>;

function rehearsal({ soulId, sessionId, userId, text }: Subject) {
  return sessionId ? { session_id: sessionId, text } : { soul_id: soulId, user_id: userId, text };
}

async function asDraft(_: Stored, draft: Draft, subject: Subject, signal: AbortSignal): Promise<Shown> {
  const body = { template: bodyOf(draft), ...rehearsal(subject) };
  const prompt = await ask(api.POST("/v1/templates/preview", { body, signal }));
  const sized = draft.modules.flatMap(({ key }, at) => (prompt.modules[at] ? [[key, prompt.modules[at]] as const] : []));
  return { prompt, sizes: Object.fromEntries(sized) };
}

/** A shipped one is spoken in the language of the talk: only the server knows how. */
async function asSaved(template: Stored, draft: Draft, subject: Subject, signal: AbortSignal): Promise<Shown> {
  const options = { params: { path: { template_id: template.id } }, body: rehearsal(subject), signal };
  const prompt = await ask(api.POST("/v1/templates/{template_id}/preview", options));
  const byName = new Map(prompt.modules.map((module) => [module.name, module]));
  const sized = draft.modules.flatMap(({ key, name }) => (byName.has(name) ? [[key, byName.get(name)!] as const] : []));
  return { prompt, sizes: Object.fromEntries(sized) };
}
