import type { Cursor, CursorOptions } from "cursor-cloud-agents";
import { fake } from "../support/fake-api.ts";
import { agentId, ref } from "../support/sample-run.ts";
import { clientSecret, envValue, key, mcpEnv, mcpHeader, query, signature } from "./scan.ts";

/** A request as a hostile server, or a careless fetch, has it: all of it, for quoting. */
export interface Sent {
  request: Request;
  body: string;
  /** Key, body and address, one after the other. */
  quote: string;
}

export type Hostile = (sent: Sent) => Response | Promise<Response>;

export const artifactUrl = `https://storage.example/a.txt?${query}`;
const storage = new URL(artifactUrl).host;

/** A client that holds every secret there is, and what it told its callbacks. */
export function client(answer: Hostile, options: CursorOptions = {}) {
  const told: unknown[] = [];
  const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = input instanceof Request ? input : new Request(input, init);
    const { pathname, host, search } = new URL(request.url);
    if (pathname.endsWith("/artifacts/download") && search.includes("signed")) {
      return Response.json({ url: artifactUrl, expiresAt: "" });
    }
    const body = await request.clone().text();
    // Storage never hears of the key; a proxy in between may, and quotes it all the same.
    const authorization = request.headers.get("authorization") ?? `Bearer ${key}`;
    const quote = `${authorization} ${key} ${btoa(`${key}:`)} ${body} ${host === storage ? `${request.url} ${signature}` : ""}`;
    return answer({ request, body, quote });
  };
  const made = fake([], { apiKey: key, maxRetries: 0, fetch: fetch as typeof globalThis.fetch, ...options });
  return { ...made, told };
}

export const createParams = {
  prompt: "Hello",
  envVars: { TOKEN: envValue },
  mcpServers: [
    { name: "a", url: "https://a.example/", headers: { Authorization: `Bearer ${mcpHeader}` } },
    {
      name: "b",
      url: "https://b.example/",
      auth: { CLIENT_ID: "id", CLIENT_SECRET: clientSecret, scopes: ["all"] },
    },
    { name: "c", type: "stdio" as const, command: "c", env: { C: mcpEnv } },
  ],
};

type Call = (cursor: Cursor, told: unknown[], signal?: AbortSignal) => PromiseLike<unknown>;

/** One call of every kind; what it tells on the way goes to `told`. */
export const calls: Record<string, Call> = {
  me: (cursor, _, signal) => cursor.me({ signal }),
  "get agent": (cursor, _, signal) => cursor.agents.get(agentId, { signal }),
  "create agent": (cursor, _, signal) => cursor.agents.create(createParams as never, { signal }),
  prompt: (cursor, _, signal) => {
    const { prompt, ...params } = createParams;
    return cursor.prompt(prompt, params as never, { signal });
  },
  "create run": (cursor, _, signal) => {
    const { envVars: _vars, ...params } = createParams;
    return cursor.runs.create(agentId, params as never, { signal });
  },
  cancel: (cursor, _, signal) => cursor.runs.cancel(ref, { signal }),
  delete: (cursor, _, signal) => cursor.agents.delete(agentId, { signal }),
  list: (cursor, _, signal) => cursor.agents.list({}, { signal }),
  repositories: (cursor, _, signal) => cursor.repositories.list({}, { signal }),
  token: (cursor, _, signal) => cursor.workerTokens.create({ forUserId: 1 }, { signal }),
  "artifact url": (cursor, _, signal) => cursor.artifacts.url(agentId, "artifacts/a", { signal }),
  download: async (cursor, told, signal) => {
    const onProgress = (progress: unknown) => told.push(progress);
    const download = await cursor.artifacts.download(agentId, "artifacts/signed", { onProgress, signal });
    return download.text();
  },
  stream: async (cursor, told, signal) => {
    const onReconnect = (info: unknown) => told.push(info);
    const stream = cursor.runs.stream(ref, { maxReconnects: 4, onReconnect, signal });
    for await (const _ of stream);
    return stream.result();
  },
  wait: (cursor, _, signal) => cursor.runs.wait(ref, { timeout: 3_600_000, signal }),
};
