import { Cursor, type CursorOptions } from "cursor-cloud-agents";
import { ManualClock } from "cursor-cloud-agents/emulator";
import { key } from "./sample-run.ts";
import { failure } from "./waiting.ts";

// ── Requests ─────────────────────────────────────────────────────────────────────────────────────────────────────

/** A request as the fake API received it. */
export interface RecordedRequest {
  method: string;
  url: URL;
  path: string;
  /** Path and query as they were sent, not decoded. */
  target: string;
  query: Record<string, string>;
  headers: Headers;
  /** The header as it was sent; undefined when it was not. */
  lastEventId: string | undefined;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  json: any;
  signal: AbortSignal;
  /** When it arrived, by the fake clock. */
  at: number;
  /** How often the client cancelled the body of the response. */
  cancelled: number;
  /** The body of the response has neither ended nor broken, and was not cancelled. */
  open: boolean;
}

async function record(request: Request, at: number): Promise<RecordedRequest> {
  const { method, headers, signal } = request;
  const url = new URL(request.url);
  const text = await request.text();
  return {
    method,
    url,
    path: url.pathname,
    target: request.url.slice(url.origin.length),
    query: Object.fromEntries(url.searchParams),
    headers,
    lastEventId: headers.get("last-event-id") ?? undefined,
    text,
    json: text === "" ? undefined : JSON.parse(text),
    signal,
    at,
    cancelled: 0,
    open: false,
  };
}

// ── Bodies ───────────────────────────────────────────────────────────────────────────────────────────────────────

type Chunk = string | Uint8Array;

/** What follows the last chunk: the end, a broken connection, silence, an error, or the same chunk again and again. */
export type Ending = "end" | "cut" | "stall" | { error: unknown } | { repeat: Uint8Array };

interface BodyOptions {
  /** Breaks the body when it aborts, as fetch does. */
  signal?: AbortSignal | undefined;
  /** Waits before each chunk. */
  pause?: () => Promise<void> | undefined;
  onEnd?: () => void;
}

const toBytes = (chunk: Chunk): Uint8Array =>
  typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk;

/** What undici throws when the peer is gone: a bare TypeError with the reason in its cause. */
export const terminated = (code = "UND_ERR_SOCKET"): TypeError =>
  new TypeError("terminated", { cause: Object.assign(new Error("other side closed"), { code }) });

/** A body of these chunks. One chunk per pull, so that none is lost in a queue when the connection breaks behind it. */
export function bodyOf(
  chunks: readonly Chunk[],
  ending: Ending = "end",
  onCancel?: () => void,
  { signal, pause, onEnd }: BodyOptions = {},
): ReadableStream<Uint8Array> {
  let index = 0;
  let isOpen = true;
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        signal?.addEventListener("abort", () => {
          if (!isOpen) return;
          isOpen = false;
          onCancel?.();
          controller.error(signal.reason);
        });
      },
      pull: async (controller) => {
        await pause?.();
        if (!isOpen) return;
        const chunk = chunks[index++];
        if (chunk !== undefined) return controller.enqueue(toBytes(chunk));
        if (ending === "stall") return new Promise(() => {});
        if (typeof ending === "object" && "repeat" in ending) return controller.enqueue(ending.repeat);
        isOpen = false;
        onEnd?.();
        if (ending === "end") controller.close();
        else controller.error(ending === "cut" ? terminated() : ending.error);
      },
      cancel: () => {
        isOpen = false;
        onCancel?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** One chunk per byte. */
export const byteByByte = (text: string): Uint8Array[] =>
  [...toBytes(text)].map((byte) => Uint8Array.of(byte));

// ── Answers ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** What one request is answered with. */
export interface Connection {
  /** 0 when the connection breaks before a response, with the error of `ending`. */
  status: number;
  headers: Record<string, string>;
  chunks: Chunk[];
  ending: Ending;
  /** Milliseconds of the fake clock before the headers, and before each chunk. */
  delay: number;
  pace: number;
}

/** An answer, or a function that decides when the request arrives. A `Response` ignores the request's signal. */
export type Answer = Connection | ((request: RecordedRequest) => Outcome | Promise<Outcome>);
export type Outcome = Answer | Response;

const connection = (chunks: Chunk[], ending: Ending, more: Partial<Connection> = {}): Connection => ({
  status: 200,
  headers: { "content-type": "text/event-stream" },
  chunks,
  ending,
  delay: 0,
  pace: 0,
  ...more,
});

/** An event stream: each argument is a chunk; then the body ends. */
export const END = (...chunks: Chunk[]): Connection => connection(chunks, "end");
/** An event stream whose connection breaks after these chunks. */
export const CUT = (...chunks: Chunk[]): Connection => connection(chunks, "cut");
/** An event stream that stays open and silent after these chunks. */
export const STALL = (...chunks: Chunk[]): Connection => connection(chunks, "stall");
/** An event stream that repeats its last chunk without end. */
export const REPEAT = (...chunks: Chunk[]): Connection =>
  connection(chunks, { repeat: toBytes(chunks.at(-1) ?? "") });

/** A response: a string is sent as it is, without a content type; anything else as JSON. */
export function reply(status: number, body?: unknown, headers: Record<string, string> = {}): Connection {
  if (body === undefined) return connection([], "end", { status, headers });
  if (typeof body === "string") return connection([body], "end", { status, headers });
  const json = { "content-type": "application/json", ...headers };
  return connection([JSON.stringify(body)], "end", { status, headers: json });
}

/** A page of HTML, as a proxy in between sends it. */
export const htmlPage = (status: number, html = "", headers: Record<string, string> = {}): Connection =>
  reply(status, html, { "content-type": "text/html", ...headers });

/** A failed response in the API's usual form. */
export const failedResponse = (
  status: number,
  code: string,
  headers: Record<string, string> = {},
): Connection => reply(status, { error: { code, message: `because ${code}` } }, headers);

/** A connection that breaks before a response, as Node's fetch reports it. */
export const broken = (code = "ECONNRESET"): Connection => {
  const cause = Object.assign(new Error(`read ${code}`), { code });
  return connection([], { error: new TypeError("fetch failed", { cause }) }, { status: 0 });
};
export const UNREACHABLE: Connection = broken("ECONNREFUSED");

/** A server that takes the request and never responds. */
export const SILENT: Connection = connection([], "stall", { delay: Number.POSITIVE_INFINITY });

// ── The API ──────────────────────────────────────────────────────────────────────────────────────────────────────

export interface FakeApiOptions {
  clock?: ManualClock;
  /** Ignores the signal once the headers are out, as some custom fetches do. */
  deaf?: boolean;
}

/** A request that the script has no answer for. The client does not retry a RangeError, so it reaches the test. */
export const unexpected = ({ method, target }: RecordedRequest): RangeError =>
  new RangeError(`unexpected request ${method} ${target}`);

/** A scripted `fetch`, with a client on a clock that stands still: no network, no real time. */
export class FakeApi {
  readonly clock: ManualClock;
  readonly requests: RecordedRequest[] = [];
  readonly #answers: Answer | readonly Answer[];
  readonly #isDeaf: boolean;

  /** @param answers One for each request in order, or a single one for all */
  constructor(
    answers: Answer | readonly Answer[],
    { clock = new ManualClock(), deaf = false }: FakeApiOptions = {},
  ) {
    this.#answers = answers;
    this.#isDeaf = deaf;
    this.clock = clock;
  }

  cursor(options: CursorOptions = {}): Cursor {
    const { fetch, clock } = this;
    return new Cursor({
      apiKey: key,
      fetch,
      clock,
      random: () => 0.5,
      ...options,
    });
  }

  /** Lets the fake time pass until the call settles. */
  run<T>(call: PromiseLike<T>): Promise<T> {
    return this.clock.run(Promise.resolve(call));
  }

  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    request.signal.throwIfAborted();
    const recorded = await record(request, this.clock.now());
    this.requests.push(recorded);
    // A loop without end fails the test here.
    if (this.requests.length > 5_000) throw new RangeError("more than 5000 requests");
    let outcome = await this.answer(recorded);
    while (typeof outcome === "function") outcome = await outcome(recorded);
    return outcome instanceof Response ? outcome : this.#connect(outcome, recorded);
  };

  /** Decides how a request is answered. */
  protected answer(request: RecordedRequest): Outcome | Promise<Outcome> {
    const answers = this.#answers;
    const answer = Array.isArray(answers) ? answers[this.requests.length - 1] : answers;
    if (answer === undefined) throw unexpected(request);
    return answer;
  }

  async #connect(answer: Connection, recorded: RecordedRequest): Promise<Response> {
    const { status, headers, chunks, ending, delay, pace } = answer;
    if (delay > 0) await this.#pause(delay, recorded.signal);
    if (!this.#isDeaf) recorded.signal.throwIfAborted();
    if (status === 0) throw (ending as { error: unknown }).error;
    if (status === 204) return new Response(null, { status, headers });
    recorded.open = true;
    const onEnd = () => {
      recorded.open = false;
    };
    const onCancel = () => {
      recorded.open = false;
      recorded.cancelled++;
    };
    const body = bodyOf(chunks, ending, onCancel, {
      signal: this.#isDeaf ? undefined : recorded.signal,
      pause: () => (pace > 0 ? this.#pause(pace) : undefined),
      onEnd,
    });
    return new Response(body, { status, headers });
  }

  #pause(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (Number.isFinite(ms)) this.clock.setTimeout(resolve, ms);
      signal?.addEventListener("abort", () => reject(signal.reason));
    });
  }
}

/** A fake API with these answers, and what most tests need of it. */
export function fake(answers: Answer | Answer[], options: CursorOptions = {}) {
  const api = new FakeApi(answers);
  const { requests, clock, fetch } = api;
  const run = <T>(call: PromiseLike<T>): Promise<T> => api.run(call);
  const fails = (call: PromiseLike<unknown>) => run(failure(call));
  return { cursor: api.cursor(options), requests, clock, fetch, run, fails };
}
