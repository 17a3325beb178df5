import { Cursor, type CursorOptions, type PendingRequest } from "cursor-cloud-agents";
import { ManualClock } from "cursor-cloud-agents/emulator";
import type { RequestChange, RequestQueue } from "cursor-cloud-agents/workers";

export const listPath = "/v0/private-workers/pending-requests";
export const watchPath = `${listPath}/stream`;

/** A pending request of the pool `gpu`. */
export const pending = (id: string, more: Partial<PendingRequest> = {}): PendingRequest => ({
  id,
  userId: 321,
  labels: [{ key: "pool", value: "gpu" }],
  createdAtMs: 1_737_306_880_000,
  ...more,
});

export const event = (name: string, id: string, data: unknown = {}): string =>
  `event: ${name}\nid: ${id}\ndata: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
export const created = (eventId: string, id: string, more: Partial<PendingRequest> = {}): string =>
  event("created", eventId, pending(id, more));
export const claimed = (eventId: string, id: string): string => event("claimed", eventId, { id });
export const heartbeat = (eventId: string): string => event("heartbeat", eventId);

/** A page of the list. */
export const page = (streamCursor: string, ids: string[], nextPageToken?: string): Response =>
  Response.json({
    requests: ids.map((id) => pending(id)),
    streamCursor,
    ...(nextPageToken === undefined ? {} : { nextPageToken }),
  });
export const failedResponse = (
  status: number,
  body: unknown = { error: { code: "c", message: "m" } },
  headers = {},
) =>
  typeof body === "string"
    ? new Response(body, { status, headers })
    : Response.json(body, { status, headers });

/** One watch connection, controlled by the test. */
export class Connection {
  isOpen = true;
  readonly response: Response;
  #controller!: ReadableStreamDefaultController<Uint8Array>;

  constructor(signal: AbortSignal) {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
        signal.addEventListener("abort", () => {
          if (this.isOpen) controller.error(signal.reason);
          this.isOpen = false;
        });
      },
      cancel: () => {
        this.isOpen = false;
      },
    });
    this.response = new Response(body, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
    this.send(": connected\n\n");
  }

  send(text: string): this {
    this.#controller.enqueue(new TextEncoder().encode(text));
    return this;
  }
  end(): this {
    if (this.isOpen) this.#controller.close();
    this.isOpen = false;
    return this;
  }
  cut(): this {
    if (this.isOpen) this.#controller.error(new TypeError("terminated"));
    this.isOpen = false;
    return this;
  }
}

export interface Seen {
  method: string;
  path: string;
  query: Record<string, string>;
  headers: Headers;
  at: number;
  body: string;
}

interface Script {
  list?: (index: number, seen: Seen) => Response | Promise<Response>;
  /** How a watch is answered; a connection stays open until the test ends it. */
  watch?: (connection: Connection, index: number, seen: Seen) => Connection | Response | Error;
  other?: (seen: Seen) => Response | Error;
}

/** A scripted API of the queue, in memory and on a clock that stands still until it is told. */
export class QueueServer {
  readonly clock = new ManualClock();
  readonly seen: Seen[] = [];
  readonly connections: Connection[] = [];
  /** The most connections that were open at once. */
  mostOpen = 0;
  readonly #script: Script;

  constructor(script: Script = {}) {
    this.#script = script;
  }

  get lists(): Seen[] {
    return this.seen.filter(({ path }) => path === listPath);
  }
  get watches(): Seen[] {
    return this.seen.filter(({ path }) => path === watchPath);
  }
  get open(): number {
    return this.connections.filter(({ isOpen }) => isOpen).length;
  }
  /** The newest connection. */
  get last(): Connection {
    return this.connections.at(-1) as Connection;
  }

  cursor(options: CursorOptions = {}): Cursor {
    return new Cursor({
      apiKey: "key_TEST",
      baseUrl: "https://api.cursor.com",
      fetch: this.fetch,
      clock: this.clock,
      random: () => 0.5,
      ...options,
    });
  }

  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    const seen: Seen = {
      method: request.method,
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      headers: request.headers,
      at: this.clock.now(),
      body: await request.text(),
    };
    request.signal.throwIfAborted();
    this.seen.push(seen);
    // Not a network error, so that an endless loop fails the test.
    if (this.seen.length > 5_000) throw new RangeError("too many requests");
    const {
      list = () => page("s1", []),
      watch = (connection: Connection) => connection,
      other,
    } = this.#script;
    if (url.pathname === listPath) return list(this.lists.length - 1, seen);
    if (url.pathname !== watchPath) {
      const answer = other?.(seen) ?? new RangeError(`unexpected ${seen.method} ${seen.path}`);
      if (answer instanceof Error) throw answer;
      return answer;
    }
    const connection = new Connection(request.signal);
    const answer = watch(connection, this.watches.length - 1, seen);
    if (answer instanceof Error) throw answer;
    if (!(answer instanceof Connection)) return answer;
    this.connections.push(connection);
    this.mostOpen = Math.max(this.mostOpen, this.open);
    return connection.response;
  };
}

/** Lets all work that is under way in memory finish. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Reads a queue in the background; `failure` is what ended it. */
export function follow(queue: RequestQueue) {
  const changes: RequestChange[] = [];
  const reading = {
    changes,
    isOver: false,
    failure: undefined as unknown,
    get brief() {
      return changes.map(({ type, id, reason }) => `${type} ${id} ${reason}`);
    },
    done: Promise.resolve(),
  };
  reading.done = (async () => {
    try {
      for await (const change of queue) changes.push(change);
    } catch (error) {
      reading.failure = error;
    }
    reading.isOver = true;
  })();
  return reading;
}

export const idsOf = (queue: RequestQueue): string[] => [...queue.current().keys()];

/** Random numbers that are the same at each run. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
