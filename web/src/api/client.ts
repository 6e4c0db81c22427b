/** The public HTTP API, typed by our own OpenAPI document. */

import createClient from "openapi-fetch";

import { useKey } from "~/api/key";
import type { components, paths } from "~/api/schema";

export type Schemas = components["schemas"];

/** The address under which the server has the studio; the API is beside it, whatever prefix a proxy adds. */
export const ROOT = new URL("../", document.baseURI);

/** A refusal of the server (RFC 9457): `code` is for programs, `detail` says to people what to do. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    readonly more: Record<string, unknown> = {},
  ) {
    super(detail);
    this.name = "Problem";
  }
}

/** The server could not be reached at all. */
export const UNREACHABLE = "unreachable";

async function authorised(request: Request): Promise<Response> {
  const key = useKey.getState().key;
  if (key) request.headers.set("Authorization", `Bearer ${key}`);
  try {
    const response = await fetch(request);
    if (response.status === 401) useKey.getState().refused();
    return response;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Problem(0, UNREACHABLE, String(error));
  }
}

export const api = createClient<paths>({ baseUrl: ROOT.href.replace(/\/$/, ""), fetch: authorised });

interface Answer<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

/** The data of an answer; throws a `Problem` if it is a refusal. */
export async function ask<Data>(answer: Promise<Answer<Data>>): Promise<Data> {
  const { data, error, response } = await answer;
  if (!response.ok) throw problemOf(response.status, error);
  return data as Data;
}

/** For what is no JSON: files, pictures, transcripts. */
export async function askRaw(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await authorised(new Request(new URL(path, ROOT), init));
  if (!response.ok) throw problemOf(response.status, await response.json().catch(() => null));
  return response;
}

export function problemOf(status: number, body: unknown): Problem {
  const { code, detail, title, ...more } = (body ?? {}) as Record<string, unknown>;
  return new Problem(status, String(code ?? "unknown"), String(detail ?? title ?? `HTTP ${status}`), more);
}
