/**
 * A chat whose assistant is a cloud agent, for `useChat` of the AI SDK: the three routes of its server, as one fetch
 * handler for any framework. The key stays here; a page gets the run's message and nothing else.
 *
 * On the page: `useChat({ id, messages, resume: true })`, where `messages` are those that are stored and whole. A message
 * whose run is still at work is left out: it comes with the resumed stream.
 */
import { type Cursor, isApiError, isCursorError, type RunRef } from "cursor-cloud-agents";
import { resumeUIMessageStreamResponse, toUIMessageStreamResponse } from "cursor-cloud-agents/ai-sdk";
import { rejectionOf } from "cursor-cloud-agents/serve";

export interface ChatServer {
  cursor: Cursor;
  /** Who asks, by session or token; undefined: nobody we know. */
  userOf(request: Request): string | undefined;
  /** The latest run of each chat, under user and chat: a table in real life. */
  runs: Map<string, RunRef>;
  repoUrl: string;
}

/** What `useChat` sends, as far as it is used here. */
interface ChatRequest {
  id: string;
  messages: { role: string; parts: { type: string; text?: string }[] }[];
}

const answer = (status: number, text: string | null = null): Response => new Response(text, { status });

export async function handleChat(request: Request, server: ChatServer): Promise<Response> {
  // A page of another site can make the browser post here, with the user's cookies.
  const rejection = request.method === "POST" ? rejectionOf(request) : undefined;
  if (rejection) return rejection;
  // The key sees every agent of its account, so whose chat it is must be known before anything is looked up.
  const user = server.userOf(request);
  if (user === undefined) return answer(401, "Please sign in.");
  const [, chatId, action] =
    /^\/api\/chat(?:\/([^/]+)\/(stream|cancel))?$/.exec(new URL(request.url).pathname) ?? [];
  try {
    if (request.method === "POST" && chatId === undefined) return await send(request, user, server);
    const run = server.runs.get(keyOf(user, chatId));
    if (request.method === "GET" && action === "stream") {
      return await resumeUIMessageStreamResponse(server.cursor, run, { signal: request.signal });
    }
    if (request.method === "POST" && action === "cancel" && run) return await cancel(run, server);
    return answer(404, "There is no such chat.");
  } catch (error) {
    if (!isCursorError(error)) throw error;
    // A page shows this text: ours, not the upstream's.
    return answer(502, "The agent can't be reached at the moment.");
  }
}

/** `POST /api/chat`: an agent per chat, a run per message. */
async function send(request: Request, user: string, server: ChatServer): Promise<Response> {
  const { id, messages } = (await request.json()) as ChatRequest;
  const prompt = (messages.at(-1)?.parts ?? []).map(({ text = "" }) => text).join("");
  if (prompt.trim() === "") return answer(400, "Please write something.");
  const { cursor, runs, repoUrl } = server;
  const last = runs.get(keyOf(user, id));
  const run = last
    ? await cursor.runs.create(last.agentId, { prompt }, { whenBusy: "wait" })
    : (await cursor.agents.create({ prompt, repos: [{ url: repoUrl }] })).run;
  // Before the first byte: a page that is closed at once finds the run again.
  runs.set(keyOf(user, id), { agentId: run.agentId, id: run.id });
  return toUIMessageStreamResponse(cursor.runs.stream(run));
}

/** `POST /api/chat/{id}/cancel`: `stop()` of the page only stops listening. */
async function cancel(run: RunRef, { cursor }: ChatServer): Promise<Response> {
  try {
    await cursor.runs.cancel(run);
  } catch (error) {
    if (!isApiError(error, "run_not_cancellable")) throw error;
  }
  return answer(204);
}

const keyOf = (user: string, chatId: string | undefined): string => JSON.stringify([user, chatId]);
