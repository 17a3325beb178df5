import { type Clock, sleep } from "../async.ts";
import { ApiError, ConnectionError } from "../errors.ts";
import { discard } from "../http/response.ts";
import { backoff } from "../http/retry.ts";
import type { Page, PagePromise } from "../pagination.ts";
import { judgeRefusal } from "../runs/failures.ts";
import { type Frame, FrameReader, FrameTooLargeError, IdleError, isEventStream } from "../sse.ts";
import type { PendingRequest } from "../types.ts";
import type { QueueView } from "./queue-view.ts";

/** A position dies five minutes after the list it comes from; each client lists again at a moment of its own before. */
const relistAfter = 240_000;
const relistSpread = 50_000;
/** Heartbeats come every 20 s: three missing ones are a dead connection. */
const idleTimeout = 60_000;
const backoffBase = 1_000;
const backoffCap = 30_000;
const longestRetryAfter = 5 * 60_000;
/** A connection that lasted so long was a good one: what follows is the first failure again. */
const healthyAfter = 10_000;
/** So many listings may break off by a refused page before the refusal is believed. */
const listingTries = 3;
const maxFrameBytes = 8 * 1024 * 1024;
const listPath = "/v0/private-workers/pending-requests";

export type ListedPage = Page<PendingRequest> & { readonly streamCursor: string };

/** What the loop needs of the rest of the client. */
export interface QueueSource {
  list(signal: AbortSignal): PagePromise<PendingRequest, { readonly streamCursor: string }>;
  open(cursor: string, signal: AbortSignal): Promise<{ response: Response; close(): void }>;
  clock: Clock;
  random: () => number;
}

interface Listing {
  requests: Map<string, PendingRequest>;
  streamCursor: string;
  /** When its first page was asked for: no later than the server counts from. */
  at: number;
}

/**
 * The loop behind a {@link QueueUpstream}: list, follow the changes, list again. One request or connection at a time, and
 * the old connection is closed before the next is opened, since an account may hold four. So a listing replaces a view
 * that stands still, and what happens meanwhile is replayed by the new connection from the listing's position.
 */
export class QueueLoop {
  readonly #view: QueueView;
  readonly #source: QueueSource;
  readonly #signal: AbortSignal;
  readonly #onSynced: () => void;
  readonly #onRetry: (info: { attempt: number; reason: unknown }) => void;
  /** Failures in a row since the last good connection. */
  #failures = 0;
  #position = "";

  constructor(
    view: QueueView,
    source: QueueSource,
    signal: AbortSignal,
    onSynced: () => void,
    onRetry: (info: { attempt: number; reason: unknown }) => void,
  ) {
    this.#view = view;
    this.#source = source;
    this.#signal = signal;
    this.#onSynced = onSynced;
    this.#onRetry = onRetry;
  }

  /** Ends with an error only: the signal's reason, or what the server refuses for good. */
  async run(): Promise<never> {
    while (true) {
      this.#signal.throwIfAborted();
      const { requests, streamCursor, at } = await this.#list();
      this.#view.replace(requests);
      this.#position = streamCursor;
      this.#onSynced();
      await this.#watch(at + relistAfter + this.#source.random() * relistSpread);
    }
  }

  // ── Listing ────────────────────────────────────────────────────────────────────────────────────────────────────

  /** A whole listing or none: one whose pages stop being valid on the way is begun anew. */
  async #list(): Promise<Listing> {
    for (let tries = 1; ; tries++) {
      const listing: Listing = {
        requests: new Map(),
        streamCursor: "",
        at: this.#source.clock.now(),
      };
      try {
        await this.#walk(listing);
        return listing;
      } catch (error) {
        if (tries >= listingTries || !isBrokenWalk(error, listing)) throw error;
        await this.#pause(error);
      }
    }
  }

  async #walk(listing: Listing): Promise<void> {
    const signal = this.#signal;
    let page: Page<PendingRequest> | undefined = await this.#patiently(async () => {
      listing.at = this.#source.clock.now();
      const first = await this.#source.list(signal);
      listing.streamCursor = checkPosition(first);
      return first;
    });
    while (page) {
      for (const item of page.items) if (isRequest(item)) listing.requests.set(item.id, item);
      const current: Page<PendingRequest> = page;
      page = await this.#patiently(() => current.nextPage());
    }
  }

  /** Asks for a page until the server is well again. */
  async #patiently<T>(ask: () => Promise<T>): Promise<T> {
    while (true) {
      try {
        return await ask();
      } catch (error) {
        this.#signal.throwIfAborted();
        if (judgeRefusal(error, undefined) !== "drop") throw error;
        await this.#pause(error);
      }
    }
  }

  // ── Watching ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** Follows the changes over as many connections as it takes, until it is time for a new list. */
  async #watch(until: number): Promise<void> {
    const { clock } = this.#source;
    while (clock.now() < until) {
      let isExpired = false;
      let reason: unknown;
      const connection = await this.#open().catch((error: unknown) => {
        this.#signal.throwIfAborted();
        const refusal = judgeRefusal(error, undefined);
        if (refusal === "final") throw error;
        isExpired = refusal === "gone";
        reason = error;
      });
      if (connection) {
        const openedAt = clock.now();
        try {
          await this.#follow(connection.frames, until);
        } catch (error) {
          this.#signal.throwIfAborted();
          if (error instanceof IdleError && clock.now() >= until) return;
          // The position before it brings it again: only a list gets past an event that can't be read.
          isExpired = error instanceof FrameTooLargeError;
          reason = broken(error instanceof Error ? error.message : String(error), error);
        } finally {
          connection.frames.cancel();
          connection.close();
          if (clock.now() - openedAt >= healthyAfter) this.#failures = 0;
        }
      }
      await this.#pause(reason);
      if (isExpired) return;
    }
  }

  async #open(): Promise<{ frames: FrameReader; close(): void }> {
    const signal = this.#signal;
    const { response, close } = await this.#source.open(this.#position, signal);
    if (isEventStream(response) && response.body) {
      const { clock } = this.#source;
      return { frames: new FrameReader(response.body, { clock, signal, maxBytes: maxFrameBytes }), close };
    }
    discard(response.body);
    close();
    throw broken("the answer is no event stream");
  }

  /** Applies events until the connection ends, one way or another. */
  async #follow(frames: FrameReader, until: number): Promise<never> {
    while (true) {
      const batch = await frames.read(idleTimeout, until);
      if (!batch) throw new Error("the server ended the stream");
      for (const frame of batch) {
        this.#apply(frame);
        // Heartbeats move the position, too; so does what this version doesn't know.
        if (frame.id) this.#position = frame.id;
      }
    }
  }

  /** An event that can't be read is a lost one: the next list makes up for it. */
  #apply({ event, data }: Frame): void {
    if (event !== "created" && event !== "claimed" && event !== "claimed_offline" && event !== "expired")
      return;
    const request = parse(data);
    if (!request) return;
    if (event === "created" || event === "claimed_offline") this.#view.upsert(request, event);
    else this.#view.remove(request.id, event);
  }

  /** Between half a step and a whole one, so that clients that failed together come back apart, and none at once. */
  async #pause(reason: unknown): Promise<void> {
    const attempt = ++this.#failures;
    this.#onRetry({ attempt, reason });
    const { clock, random } = this.#source;
    const asked = ApiError.isInstance(reason) ? reason.retryAfterMs : undefined;
    const delay = backoff(attempt - 1, backoffBase, backoffCap, () => (1 + random()) / 2);
    const wait = asked === undefined ? delay : Math.max(delay, Math.min(asked, longestRetryAfter));
    await sleep(clock, wait, this.#signal);
  }
}

/** Whether a listing broke because its pages are no longer good, and not because we may not list at all. */
function isBrokenWalk(error: unknown, { streamCursor }: Listing): boolean {
  if (!ApiError.isInstance(error) || error.status === 401 || error.status === 403) return false;
  return streamCursor !== "" || error.status === 410 || error.status < 300;
}

function checkPosition(page: ListedPage): string {
  const { streamCursor } = page;
  if (typeof streamCursor === "string" && streamCursor !== "") return streamCursor;
  const code = "invalid_response";
  throw new ApiError(`GET ${listPath} -> 200 ${code}: the page has no "streamCursor"`, {
    status: 200,
    method: "GET",
    path: listPath,
    code,
  });
}

function broken(problem: string, cause?: unknown): ConnectionError {
  const path = `${listPath}/stream`;
  return new ConnectionError(`GET ${path}: ${problem}`, { method: "GET", path, cause });
}

const isRequest = (value: unknown): value is PendingRequest =>
  typeof (value as PendingRequest | null | undefined)?.id === "string";

function parse(data: string): PendingRequest | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return isRequest(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
