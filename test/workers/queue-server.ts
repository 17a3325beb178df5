import type { PendingRequest } from "cursor-cloud-agents";
import type { RequestChange, RequestQueue } from "cursor-cloud-agents/workers";
import { FakeApi, type Outcome, type RecordedRequest, terminated, unexpected } from "../support/fake-api.ts";
import { frame } from "../support/frames.ts";

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

export const event = (name: string, id: string, data: unknown = {}): string => frame(name, data, id);
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
    if (this.isOpen) this.#controller.error(terminated());
    this.isOpen = false;
    return this;
  }
}

interface Script {
  list?: (index: number, request: RecordedRequest) => Response | Promise<Response>;
  /** How a watch is answered; a connection stays open until the test ends it. */
  watch?: (connection: Connection, index: number, request: RecordedRequest) => Connection | Response | Error;
  other?: (request: RecordedRequest) => Response | Error;
}

/** A scripted API of the queue, in memory. */
export class QueueServer extends FakeApi {
  readonly connections: Connection[] = [];
  /** The most connections that were open at once. */
  mostOpen = 0;
  readonly #script: Script;

  constructor(script: Script = {}) {
    super([]);
    this.#script = script;
  }

  get lists(): RecordedRequest[] {
    return this.requests.filter(({ path }) => path === listPath);
  }
  get watches(): RecordedRequest[] {
    return this.requests.filter(({ path }) => path === watchPath);
  }
  get open(): number {
    return this.connections.filter(({ isOpen }) => isOpen).length;
  }
  /** The newest connection. */
  get last(): Connection {
    return this.connections.at(-1) as Connection;
  }

  protected override answer(request: RecordedRequest): Outcome | Promise<Outcome> {
    const {
      list = () => page("s1", []),
      watch = (connection: Connection) => connection,
      other,
    } = this.#script;
    if (request.path === listPath) return list(this.lists.length - 1, request);
    if (request.path !== watchPath) {
      const answer = other?.(request) ?? unexpected(request);
      if (answer instanceof Error) throw answer;
      return answer;
    }
    const connection = new Connection(request.signal);
    const answer = watch(connection, this.watches.length - 1, request);
    if (answer instanceof Error) throw answer;
    if (!(answer instanceof Connection)) return answer;
    this.connections.push(connection);
    this.mostOpen = Math.max(this.mostOpen, this.open);
    return connection.response;
  }
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
