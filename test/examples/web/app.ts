import { type Cursor, isApiError, type Run, type RunRef } from "cursor-cloud-agents";
import {
  artifactResponse,
  artifactsResponse,
  cancelResponse,
  followUpResponse,
  runStreamResponse,
} from "cursor-cloud-agents/serve";
import type { PageFile } from "./bundle.ts";
import { type Conversation, Sessions } from "./sessions.ts";

export interface AppOptions {
  /** Holds the key. It stays here: a browser gets what belongs to its session, and nothing of how it was got. */
  cursor: Cursor;
  /** The page, by path. */
  files: ReadonlyMap<string, PageFile>;
  sessions?: Sessions;
  /** How long a page waits before it reconnects, in milliseconds. @default 2000 */
  retry?: number;
}

/** The whole server, as one function from request to response. */
export function createApp({ cursor, files, sessions = new Sessions(), retry }: AppOptions) {
  return async function handle(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (!pathname.startsWith("/api/")) return page(request, pathname);
    const session = sessions.idOf(request);
    if (session === undefined) return refusal(401, "Reload the page, please.");

    const authorize = (_: Request, { agentId, id }: { agentId: string; id?: string }) => {
      const { turns } = sessions.find(session, agentId) ?? {};
      return turns !== undefined && (id === undefined || turns.some(({ runId }) => runId === id));
    };
    const options = { request, authorize };
    const [, agentId = "", rest = ""] = /^\/api\/agents\/([^/]+)\/(.+)$/.exec(pathname) ?? [];
    const [, runId = "", action] = /^runs\/([^/]+)\/(stream|cancel)$/.exec(rest) ?? [];
    const ref: RunRef = { agentId, id: runId };
    if (action === "stream") return runStreamResponse(cursor, ref, { ...options, retry });
    if (action === "cancel") return cancelResponse(cursor, ref, options);
    if (rest === "artifacts") return artifactsResponse(cursor, agentId, options);
    if (rest === "artifact") {
      return artifactResponse(cursor, agentId, searchParams.get("path") ?? "", { ...options, proxy: true });
    }
    if (rest === "runs") {
      const copy = request.clone();
      // An agent counts as busy for a moment after its run is over.
      const response = await followUpResponse(cursor, agentId, { ...options, whenBusy: "wait" });
      return remember(session, agentId, copy, response);
    }
    const route = `${request.method} ${pathname}`;
    if (route === "GET /api/models") return models();
    if (route === "GET /api/agents") return json(200, sessions.list(session));
    if (route === "POST /api/agents") return start(session, request);
    return refusal(404, "There is nothing at this address.");
  };

  /** The page is the same at every address, and shows what its address names. It brings the session with it. */
  function page(request: Request, pathname: string): Response {
    const path = pathname.startsWith("/agents/") ? "/" : pathname;
    const file = files.get(path);
    if (file === undefined || request.method !== "GET")
      return refusal(404, "There is nothing at this address.");
    const needsSession = path === "/" && sessions.idOf(request) === undefined;
    const headers = { "content-type": file.type, ...pageHeaders, ...(needsSession && sessions.begin()) };
    return new Response(file.body, { headers });
  }

  async function models(): Promise<Response> {
    try {
      const { items } = await cursor.models.list();
      return json(
        200,
        items.map(({ id, displayName }) => ({ id, displayName })),
      );
    } catch {
      return refusal(502, "The models can't be listed at the moment.");
    }
  }

  async function start(session: string, request: Request): Promise<Response> {
    // Another site's page can neither send this type without asking, nor hide where it is.
    if (request.headers.get("content-type") !== "application/json") return refusal(415, "Send JSON, please.");
    const site = request.headers.get("sec-fetch-site") ?? "same-origin";
    if (site !== "same-origin") return refusal(403, "Only this server's own page can start agents.");
    // Without a length, or with one that is no number, too.
    if (!(Number(request.headers.get("content-length") ?? Number.NaN) <= bodyLimit)) {
      return refusal(413, "That is too long.");
    }
    const { prompt, repository, model } = (await request.json().catch(() => ({}))) as Record<string, unknown>;
    if (typeof prompt !== "string" || prompt.trim() === "") return refusal(400, "Say what is to be done.");
    try {
      const { agent, run } = await cursor.agents.create({
        prompt,
        ...(typeof repository === "string" && { repos: [{ url: repository }] }),
        ...(typeof model === "string" && { model: { id: model } }),
      });
      const conversation: Conversation = {
        agentId: agent.id,
        turns: [{ runId: run.id, prompt, startedAt: Date.now() }],
        ...(typeof repository === "string" && { repository }),
        ...(typeof model === "string" && { model }),
      };
      sessions.add(session, conversation);
      return json(201, conversation);
    } catch (error) {
      return isApiError(error) && error.status === 400
        ? refusal(400, "No agent can be started like this. Is the repository's address right?")
        : refusal(502, "No agent can be started at the moment.");
    }
  }

  /** A follow-up is a new turn of its conversation. */
  async function remember(
    session: string,
    agentId: string,
    request: Request,
    response: Response,
  ): Promise<Response> {
    const conversation = sessions.find(session, agentId);
    if (!response.ok || conversation === undefined) return response;
    const { prompt } = (await request.json()) as { prompt: string };
    const { id: runId } = (await response.json()) as Run;
    conversation.turns.push({ runId, prompt, startedAt: Date.now() });
    return json(201, conversation);
  }
}

/** Bytes. */
const bodyLimit = 100_000;

const pageHeaders = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cache-control": "no-cache",
};

function json(status: number, body: unknown): Response {
  const headers = { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" };
  return new Response(JSON.stringify(body), { status, headers });
}

const refusal = (status: number, message: string): Response => json(status, { error: { message } });
