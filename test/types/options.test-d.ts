import {
  Cursor,
  type CursorOptions,
  type Middleware,
  type RequestOptions,
  type RunStreamOptions,
} from "cursor-cloud-agents";
import type { Middleware as OpenapiFetchMiddleware } from "openapi-fetch";

// A user with exactOptionalPropertyTypes may pass on what he may not have. Checked by `npx tsc`.

declare const maybe: { text?: string; count?: number; signal?: AbortSignal };
const { text, count, signal } = maybe;

export const options: CursorOptions = {
  apiKey: text,
  auth: undefined,
  baseUrl: text,
  fetch: undefined,
  headers: undefined,
  middleware: undefined,
  timeout: count,
  maxRetries: count,
  clock: undefined,
  random: undefined,
};
export const request: RequestOptions = {
  signal,
  timeout: count,
  maxRetries: count,
  headers: { "x-a": text },
};
export const stream: RunStreamOptions = {
  signal,
  from: text,
  include: undefined,
  idleTimeout: count,
  maxReconnects: count,
  maxEventBytes: count,
  onReconnect: undefined,
};

export function calls(cursor: Cursor, agentId: string) {
  const ref = { agentId, id: "run-1" };
  cursor.me(undefined);
  cursor.prompt("x", undefined, { ...request, onText: undefined, onCreated: undefined });
  cursor.agents.create({ prompt: "x" }, { ...request, onConflict: undefined, extraBody: undefined });
  cursor.agents.list({ limit: count, cursor: text, prUrl: text, includeArchived: undefined }, request);
  cursor.agents.list(undefined, undefined);
  cursor.runs.create(agentId, { prompt: "x" }, { ...request, whenBusy: undefined, extraBody: undefined });
  cursor.runs.list(agentId, { limit: count, cursor: text }, request);
  cursor.runs.stream(ref, stream);
  cursor.runs.wait(ref, { signal, timeout: count, onStatus: undefined, throwOnFailure: undefined });
  cursor.artifacts.download(agentId, "artifacts/a", { signal, onProgress: undefined, timeout: count });
  cursor.usage.get(agentId, { runId: text }, request);
  cursor.repositories.list({ fresh: undefined }, request);
}

export const clients = [new Cursor(), new Cursor({}), new Cursor({ apiKey: async () => "key" })];

declare const theirs: OpenapiFetchMiddleware;
declare const theirList: OpenapiFetchMiddleware[];
export const middleware: Middleware[] = [
  theirs,
  { onRequest: ({ request, schemaPath }) => request.headers.set("x-path", schemaPath) },
  { onResponse: async ({ response }) => Response.json(await response.clone().json()) },
  { onError: ({ error }) => new Error("mine", { cause: error }) },
];
export const withTheirs = new Cursor({ apiKey: "x", middleware: theirList });
export const itsFetch: typeof globalThis.fetch = ((f: NonNullable<CursorOptions["fetch"]>) => f)(fetch);

// @ts-expect-error a hook's answer is a request or a response
export const badMiddleware: Middleware = { onRequest: () => 7 };

export const badOptions: CursorOptions[] = [
  // @ts-expect-error a key is text, or a function that gives it
  { apiKey: 7 },
  // @ts-expect-error two ways only
  { auth: "digest" },
  // @ts-expect-error milliseconds
  { timeout: "60s" },
  // @ts-expect-error a misspelt option
  { baseURL: "https://api.cursor.com" },
  // @ts-expect-error a client's options hold no signal
  { signal: AbortSignal.timeout(1) },
];

// @ts-expect-error the type of the client is real: it is not any
export const notAny: number = new Cursor({ apiKey: "x" });
