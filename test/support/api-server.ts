import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Cursor, type CursorOptions } from "cursor-cloud-agents";
import { onTestFinished } from "vitest";
import { ManualClock } from "../../src/emulator/clock.ts";

export const key = "key_TEST";
export const agentId = "bc-00000000-0000-0000-0000-00000000000a";
export const runId = "run-00000000-0000-0000-0000-000000000001";
export const ref = { agentId, id: runId };

const times = { createdAt: "2026-01-01T00:00:00.000Z", updatedAt: "2026-01-01T00:00:00.000Z" };
export const agent = {
  id: agentId,
  name: "Test",
  status: "ACTIVE",
  url: `https://cursor.com/agents/${agentId}`,
  ...times,
  latestRunId: runId,
};
export const run = { id: runId, agentId, status: "RUNNING", ...times };

/** A request as our fake API received it. */
export interface Seen {
  method: string;
  /** Path and query as they were sent, not decoded. */
  target: string;
  url: URL;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  json: any;
  signal: AbortSignal;
}

/** What the fake API does with one request. */
export type Answer = (request: Seen) => Response | Promise<Response>;

/** An answer: a string goes out as it is, without a content type; anything else as JSON. */
export function reply(status: number, body?: unknown, headers: Record<string, string> = {}): Answer {
  return () => {
    if (body === undefined || status === 204) return new Response(null, { status, headers });
    if (typeof body !== "string") {
      return Response.json(body, { status, headers });
    }
    return new Response(new TextEncoder().encode(body), { status, headers });
  };
}

/** A refusal in the API's usual form. */
export const refuse = (status: number, code: string, headers: Record<string, string> = {}): Answer =>
  reply(status, { error: { code, message: `because ${code}` } }, headers);

/** A connection that breaks before an answer, as Node's fetch tells it. */
export const broken = (code = "ECONNRESET"): Answer => {
  return () => {
    throw new TypeError("fetch failed", { cause: Object.assign(new Error(`read ${code}`), { code }) });
  };
};

/** A server that takes the request and says nothing. */
export const silent: Answer = ({ signal }) =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

/** A body of these pieces that then ends, breaks, or stays open. `onCancel` hears when its reader gives up. */
export function bodyOf(
  pieces: string[],
  then: "end" | "cut" | "open" = "end",
  onCancel?: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const rest = [...pieces];
  return new ReadableStream(
    {
      pull(controller) {
        const piece = rest.shift();
        if (piece !== undefined) return controller.enqueue(encoder.encode(piece));
        if (then === "end") return controller.close();
        if (then === "cut") return controller.error(new TypeError("terminated"));
        return new Promise(() => {});
      },
      cancel: () => onCancel?.(),
    },
    { highWaterMark: 0 },
  );
}

/** A run stream's answer. */
export const stream = (
  pieces: string[],
  then: "end" | "cut" | "open" = "end",
  onCancel?: () => void,
): Answer => {
  return () =>
    new Response(bodyOf(pieces, then, onCancel), { headers: { "content-type": "text/event-stream" } });
};

export const statusFrame = `event: status\ndata: {"runId":"${runId}","status":"RUNNING"}\n\n`;
export const textFrame = (id: string, text: string) =>
  `id: ${id}\nevent: assistant\ndata: ${JSON.stringify({ text })}\n\n`;
export const resultFrame = `id: 900-0\nevent: result\ndata: {"runId":"${runId}","status":"FINISHED","text":"Hello","durationMs":10}\n\n`;
export const doneFrame = "id: 900-0\nevent: done\ndata: {}\n\n";

/**
 * A client over an injected fetch that answers from a list (a single answer: always the same), on a clock that
 * stands still, with a jitter of one half.
 */
export function fake(answers: Answer | Answer[], options: CursorOptions = {}) {
  const clock = new ManualClock();
  const requests: Seen[] = [];
  const fetch = async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    const text = await request.text();
    const seen = {
      method: request.method,
      target: request.url.slice(url.origin.length),
      url,
      headers: request.headers,
      text,
      json: text === "" ? undefined : JSON.parse(text),
      signal: request.signal,
    };
    requests.push(seen);
    const answer = Array.isArray(answers)
      ? answers[requests.length - 1]
      : requests.length > 1_000
        ? undefined
        : answers;
    // A RangeError is no network failure: it isn't retried, and it shows. A loop without end ends here, too.
    if (!answer) throw new RangeError(`unexpected request ${seen.method} ${seen.target}`);
    return answer(seen);
  };
  const cursor = new Cursor({ apiKey: key, fetch, clock, random: () => 0.5, ...options });
  /** Lets time pass until the call settles. */
  const run = <T>(call: PromiseLike<T>): Promise<T> => clock.run(Promise.resolve(call));
  return { cursor, requests, clock, fetch, run, fails: (call: PromiseLike<unknown>) => run(failure(call)) };
}

/** What a call rejects with. */
export const failure = (call: PromiseLike<unknown>) =>
  Promise.resolve(call).then(
    (value) => {
      throw new Error(`did not fail, but gave ${JSON.stringify(value)}`);
    },
    // biome-ignore lint/suspicious/noExplicitAny: tests look into errors of every class
    (error: any) => error,
  );

/** A request as it arrived over a socket. */
export interface Arrived {
  method: string;
  target: string;
  headers: IncomingMessage["headers"];
  body: string;
}

/** A server on a loopback port of its own, closed when the test ends. */
export async function listen(handler: (request: Arrived, response: ServerResponse, count: number) => void) {
  const requests: Arrived[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(async (message, response) => {
    let body = "";
    for await (const chunk of message) body += chunk;
    const request = {
      method: message.method ?? "",
      target: message.url ?? "",
      headers: message.headers,
      body,
    };
    requests.push(request);
    handler(request, response, requests.length);
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const cursor = (options: CursorOptions = {}) =>
    new Cursor({ apiKey: key, baseUrl: origin, random: () => 0, ...options });
  return { origin, port, requests, cursor };
}

/** Answers with JSON over a socket. */
export const send = (response: ServerResponse, status: number, body: unknown) =>
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

/** Waits for something that a socket tells in its own time. */
export async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + 2_000;
  while (!condition()) {
    if (Date.now() > end) throw new Error("it never came true");
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
