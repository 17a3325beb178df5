import {
  Cursor,
  type CursorOptions,
  type RunEvent,
  type RunRef,
  type RunStreamOptions,
} from "cursor-cloud-agents";
import { ManualClock } from "cursor-cloud-agents/emulator";

export const agentId = "bc-00000000-0000-0000-0000-00000000000a";
export const runId = "run-00000000-0000-0000-0000-000000000001";
export const ref: RunRef = { agentId, id: runId };

// ── Frames, as they stand on the wire ────────────────────────────────────────────────────────────────────────────

export function frame(event: string, data: unknown, id?: string): string {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${text}\n\n`;
}
export const status = (value = "RUNNING"): string => frame("status", { runId, status: value });
export const assistant = (id: string, text: string): string => frame("assistant", { text }, id);
export const thinking = (id: string, text: string): string => frame("thinking", { text }, id);
export const tool = (id: string, callId: string, state: "running" | "completed", more = {}): string =>
  frame("tool_call", { callId, name: "read_file", status: state, ...more }, id);
/** A tool call whose arguments can be parsed, but overflow the stack of who writes them as JSON again. */
export const tooDeep = (id: string): string => {
  const args = "[".repeat(20_000) + "]".repeat(20_000);
  return frame("tool_call", `{"callId":"deep","name":"x","status":"running","args":${args}}`, id);
};
export const update = (id: string, data: object): string => frame("interaction_update", data, id);
export const failure = (code: string, message = "m"): string => frame("error", { code, message });
export const heartbeat = frame("heartbeat", {});
export const result = (data: object = {}, id = "900-0"): string =>
  frame("result", { runId, status: "FINISHED", text: "Hello", durationMs: 10, ...data }, id);
export const done = frame("done", {}, "900-0");

// ── Connections ──────────────────────────────────────────────────────────────────────────────────────────────────

type Ending = "end" | "stall" | { error: unknown } | { repeat: Uint8Array };

/** What one stream request is answered with. */
export interface Connection {
  status: number;
  headers: Record<string, string>;
  chunks: Uint8Array[];
  ending: Ending;
  /** Milliseconds of the fake clock before the headers, and before each chunk. */
  delay: number;
  pace: number;
}

const toBytes = (chunk: string | Uint8Array): Uint8Array =>
  typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk;

const connection = (chunks: (string | Uint8Array)[], ending: Ending, more: Partial<Connection> = {}) => ({
  status: 200,
  headers: { "content-type": "text/event-stream" },
  chunks: chunks.map(toBytes),
  ending,
  delay: 0,
  pace: 0,
  ...more,
});

/** What undici says when the peer is gone: a bare TypeError, the reason in its cause. */
export const terminated = (code = "UND_ERR_SOCKET"): TypeError =>
  new TypeError("terminated", { cause: Object.assign(new Error("other side closed"), { code }) });

/** Each argument is a chunk; then the body ends as the server meant it to. */
export const END = (...chunks: (string | Uint8Array)[]): Connection => connection(chunks, "end");
/** … then the connection breaks. */
export const CUT = (...chunks: (string | Uint8Array)[]): Connection =>
  connection(chunks, { error: terminated() });
/** … then it stays open and silent. */
export const STALL = (...chunks: (string | Uint8Array)[]): Connection => connection(chunks, "stall");
/** … then the last chunk comes again and again. */
export const REPEAT = (...chunks: (string | Uint8Array)[]): Connection =>
  connection(chunks, { repeat: toBytes(chunks.at(-1) ?? "") });
/** An answer that is no stream. */
export const refuse = (status: number, body: unknown = "", headers: Record<string, string> = {}) =>
  connection([typeof body === "string" ? body : JSON.stringify(body)], "end", {
    status,
    headers: { "content-type": typeof body === "string" ? "text/html" : "application/json", ...headers },
  });
export const apiError = (status: number, code: string, headers: Record<string, string> = {}): Connection =>
  refuse(status, { error: { code, message: "m" } }, headers);
export const UNREACHABLE: Connection = connection([], { error: terminated("ECONNREFUSED") }, { status: 0 });
export const SILENT: Connection = connection([], "stall", { delay: Number.POSITIVE_INFINITY });

/** One chunk per byte. */
export const byteByByte = (text: string): Uint8Array[] =>
  [...toBytes(text)].map((byte) => Uint8Array.of(byte));

// ── The server ───────────────────────────────────────────────────────────────────────────────────────────────────

export interface Recorded {
  method: string;
  path: string;
  at: number;
  headers: [string, string][];
  /** The header as it was sent; undefined when it wasn't. */
  lastEventId: string | undefined;
  body: string;
  cancelled: number;
  /** The body was neither ended, broken nor cancelled. */
  open: boolean;
}

type Answers<T> = readonly T[] | ((request: Recorded, index: number) => T);

export interface StreamServerOptions {
  /** Answers to Get A Run, in order; the last one stays. A string is a status. */
  runs?: Answers<string | Record<string, unknown> | Connection>;
  /** Every other request. */
  other?: (request: Recorded) => Connection | object;
  clock?: ManualClock;
  /** Leaves the signal alone once the headers are out, as some custom fetches do. */
  deaf?: boolean;
}

/** A scripted `fetch`: stream requests get the connections in order; no network, no real time. */
export class StreamServer {
  readonly clock: ManualClock;
  readonly requests: Recorded[] = [];
  readonly #connections: Answers<Connection>;
  readonly #options: StreamServerOptions;

  constructor(connections: Answers<Connection>, options: StreamServerOptions = {}) {
    this.#connections = connections;
    this.#options = options;
    this.clock = options.clock ?? new ManualClock();
  }

  get streams(): Recorded[] {
    return this.requests.filter(({ path }) => path.endsWith("/stream"));
  }
  get lookups(): Recorded[] {
    return this.requests.filter(({ method, path }) => method === "GET" && path.endsWith(`/runs/${runId}`));
  }
  /** The resume position each stream request asked for. */
  get positions(): (string | undefined)[] {
    return this.streams.map(({ lastEventId }) => lastEventId);
  }
  get openBodies(): number {
    return this.requests.filter(({ open }) => open).length;
  }

  cursor(options: CursorOptions = {}): Cursor {
    return new Cursor({
      apiKey: "key_TEST",
      baseUrl: "https://api.cursor.com",
      fetch: this.fetch,
      clock: this.clock,
      random: () => 1,
      ...options,
    });
  }

  /** Lets the fake time pass until the promise settles. Nothing here does real I/O: a few turns tell that all is quiet. */
  run<T>(promise: Promise<T>): Promise<T> {
    return this.clock.run(promise, { turns: 4 });
  }

  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    request.signal.throwIfAborted();
    const recorded: Recorded = {
      method: request.method,
      path: new URL(request.url).pathname,
      at: this.clock.now(),
      headers: [...request.headers],
      lastEventId: request.headers.get("last-event-id") ?? undefined,
      body: await request.text(),
      cancelled: 0,
      open: false,
    };
    this.requests.push(recorded);
    const answer = this.#answer(recorded);
    if (answer.delay > 0) await this.#pause(answer.delay, request.signal);
    if (!this.#options.deaf) request.signal.throwIfAborted();
    if (answer.status === 0)
      throw new TypeError("fetch failed", { cause: (answer.ending as { error: Error }).error });
    const body = this.#body(answer, recorded, this.#options.deaf ? undefined : request.signal);
    return new Response(body, { status: answer.status, headers: answer.headers });
  };

  #answer(request: Recorded): Connection {
    if (request.path.endsWith("/stream"))
      return pick(this.#connections, request, this.streams.length - 1, "stream");
    if (this.lookups.at(-1) === request) {
      const { runs = [] } = this.#options;
      const index = this.lookups.length - 1;
      const run = pick(
        runs,
        request,
        Array.isArray(runs) ? Math.min(index, runs.length - 1) : index,
        "Get A Run",
      );
      if (typeof run !== "string" && "chunks" in run) return run as Connection;
      return refuse(200, typeof run === "string" ? runOf(run) : run);
    }
    const answer = this.#options.other?.(request);
    if (!answer) throw new RangeError(`unexpected ${request.method} ${request.path}`);
    return "chunks" in answer ? (answer as Connection) : refuse(200, answer);
  }

  /** One chunk per pull, so that nothing is lost in a queue when the connection breaks behind it. */
  #body(
    { chunks, ending, pace }: Connection,
    recorded: Recorded,
    signal?: AbortSignal,
  ): ReadableStream<Uint8Array> {
    let index = 0;
    recorded.open = true;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          signal?.addEventListener("abort", () => {
            if (!recorded.open) return;
            recorded.open = false;
            recorded.cancelled++;
            controller.error(signal.reason);
          });
        },
        pull: async (controller) => {
          if (pace > 0) await this.#pause(pace);
          if (!recorded.open) return;
          const chunk = chunks[index++];
          if (chunk) return controller.enqueue(chunk);
          if (ending === "stall") return new Promise(() => {});
          if (typeof ending === "object" && "repeat" in ending) return controller.enqueue(ending.repeat);
          recorded.open = false;
          if (ending === "end") controller.close();
          else controller.error(ending.error);
        },
        cancel: () => {
          recorded.open = false;
          recorded.cancelled++;
        },
      },
      { highWaterMark: 0 },
    );
  }

  #pause(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (Number.isFinite(ms)) this.clock.setTimeout(resolve, ms);
      signal?.addEventListener("abort", () => reject(signal.reason));
    });
  }
}

/** RangeErrors, since the client takes most other errors of a fetch for a broken network, and would try again. */
function pick<T>(answers: Answers<T>, request: Recorded, index: number, what: string): T {
  const answer = typeof answers === "function" ? answers(request, index) : answers[index];
  if (answer === undefined) throw new RangeError(`${what} request ${index + 1} was not expected`);
  return answer as T;
}

/** A run as Get A Run answers it. */
export const runOf = (status: string, more: object = {}): Record<string, unknown> => ({
  id: runId,
  agentId,
  status,
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:00:01.000Z",
  ...more,
});

// ── Readers ──────────────────────────────────────────────────────────────────────────────────────────────────────

export async function collect<T>(events: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** `name#id text`, for comparing whole lists at a glance. */
export function brief(event: RunEvent): string {
  const name = "name" in event ? `${event.type}:${event.name}` : event.type;
  const data = "data" in event ? (event.data as Record<string, unknown>) : {};
  const detail =
    data["text"] ?? (event.type === "status" || event.type === "tool_call" ? data["status"] : data["type"]);
  return `${name}${event.id === undefined ? "" : `#${event.id}`}${typeof detail === "string" ? ` ${detail}` : ""}`;
}
/** Reads a whole stream while the fake time passes. */
export const readAll = (server: StreamServer, options: RunStreamOptions = {}): Promise<RunEvent[]> =>
  server.run(collect(server.cursor().runs.stream(ref, options)));

export const briefly = (events: RunEvent[]): string[] => events.map(brief);
