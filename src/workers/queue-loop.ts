import { Backoff, type Clock } from "../async.ts";
import { ApiError, ConnectionError, CursorError } from "../errors.ts";
import type { Page, PagePromise, PendingRequest, RequestOptions } from "../index.ts";
import { judgeRefusal } from "../runs/failures.ts";
import { type Frame, type FrameReader, FrameTooLargeError, IdleError, openEventStream } from "../sse.ts";
import { messageOf, parseJson } from "../text.ts";
import type { QueueView } from "./queue-view.ts";

/**
 * A position expires five minutes after the list it comes from. Each client lists again before that, at a random moment,
 * so that clients that started together do not list together.
 */
const relistAfter = 240_000;
const relistSpread = 50_000;
/** The server sends a heartbeat every 20 s: after three missing ones the connection counts as dead. */
const idleTimeout = 60_000;
/** A connection that lasted this long counts as progress: the next failure is the first one again. */
const healthyAfter = 10_000;
/** A listing whose pages expire on the way is started again; after this many attempts its error is final. */
const listingAttempts = 3;
/** The view holds no more requests: a listing or a stream without end must not fill the memory. */
const mostRequests = 100_000;
const maxFrameBytes = 8 * 1024 * 1024;
const listPath = "/v0/private-workers/pending-requests";

/** What the loop needs of the client: `requests.watchSource()`. */
export interface QueueSource {
  list(options: RequestOptions): PagePromise<PendingRequest, { readonly streamCursor: string }>;
  open(position: string, signal: AbortSignal): Promise<{ response: Response; close(): void }>;
  clock: Clock;
  random: () => number;
}

/** A failure that is followed by another attempt. */
export interface RetryInfo {
  /** Failures in a row since the last good connection. */
  attempt: number;
  reason: unknown;
}

/** How the loop reports what it does. */
export interface QueueLoopEvents {
  /** A whole listing is in the view. */
  onSynced(): void;
  onRetry(info: RetryInfo): void;
}

interface Listing {
  requests: Map<string, PendingRequest>;
  streamCursor: string;
  /** When its first page was requested: the server counts the position's five minutes from no earlier moment. */
  at: number;
}

/**
 * The loop behind a {@link QueueUpstream}: list, follow the changes, list again. There is one request or connection at a
 * time, and the old connection is closed before the next one opens, since an account may hold four. So nothing changes
 * the view while a listing replaces it; the new connection replays what happened meanwhile, from the listing's position.
 */
export class QueueLoop {
  readonly #view: QueueView;
  readonly #source: QueueSource;
  readonly #signal: AbortSignal;
  readonly #events: QueueLoopEvents;
  readonly #backoff: Backoff;
  /** Where the next connection continues. */
  #position = "";

  constructor(view: QueueView, source: QueueSource, signal: AbortSignal, events: QueueLoopEvents) {
    this.#view = view;
    this.#source = source;
    this.#signal = signal;
    this.#events = events;
    const { clock, random } = source;
    // The pause is at least half a step, so that no attempt follows at once.
    const jitter = [0.5, 1] as const;
    const longestRetryAfter = 5 * 60_000;
    this.#backoff = new Backoff({ clock, random, base: 1_000, cap: 30_000, jitter, longestRetryAfter });
  }

  /** Ends with an error only: the signal's reason, or a failed response that no retry can change. */
  async run(): Promise<never> {
    while (true) {
      this.#signal.throwIfAborted();
      const { requests, streamCursor, at } = await this.#list();
      this.#view.replace(requests);
      this.#position = streamCursor;
      this.#events.onSynced();
      await this.#watch(at + relistAfter + this.#source.random() * relistSpread);
    }
  }

  // ── Listing ────────────────────────────────────────────────────────────────────────────────────────────────────

  /** A whole listing or none: one whose page cursors expire on the way is started again. */
  async #list(): Promise<Listing> {
    for (let attempts = 1; ; attempts++) {
      const listing: Listing = { requests: new Map(), streamCursor: "", at: this.#source.clock.now() };
      try {
        await this.#readPages(listing);
        return listing;
      } catch (error) {
        if (attempts >= listingAttempts || !areCursorsExpired(error, listing)) throw error;
        await this.#pause(error);
      }
    }
  }

  async #readPages(listing: Listing): Promise<void> {
    const signal = this.#signal;
    let page: Page<PendingRequest> | undefined = await this.#retrying(async () => {
      listing.at = this.#source.clock.now();
      // The loop has its own retries; retries of the request would multiply them.
      const first = await this.#source.list({ signal, maxRetries: 0 });
      listing.streamCursor = checkPosition(first);
      return first;
    });
    while (page) {
      for (const item of page.items) if (isRequest(item)) listing.requests.set(item.id, item);
      if (listing.requests.size > mostRequests) {
        throw new CursorError(`GET ${listPath}: the queue has more than ${mostRequests} requests`);
      }
      const current: Page<PendingRequest> = page;
      page = await this.#retrying(() => current.nextPage());
    }
  }

  /** Requests a page until it comes, or fails for good. */
  async #retrying<T>(request: () => Promise<T>): Promise<T> {
    while (true) {
      try {
        return await request();
      } catch (error) {
        this.#signal.throwIfAborted();
        if (judgeRefusal(error, undefined) !== "drop") throw error;
        await this.#pause(error);
      }
    }
  }

  // ── Watching ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** Follows the changes over as many connections as needed, until it is time for a new list. */
  async #watch(until: number): Promise<void> {
    const { clock } = this.#source;
    while (clock.now() < until) {
      let isExpired = false;
      let reason: unknown;
      const frames = await this.#open().catch((error: unknown) => {
        this.#signal.throwIfAborted();
        const meaning = judgeRefusal(error, undefined);
        if (meaning === "final") throw error;
        isExpired = meaning === "gone";
        reason = error;
      });
      if (frames) {
        const openedAt = clock.now();
        try {
          await this.#follow(frames, until);
        } catch (error) {
          this.#signal.throwIfAborted();
          if (error instanceof IdleError && clock.now() >= until) return;
          // Continuing before an event that is too large would bring it again: only a new list gets past it.
          isExpired = error instanceof FrameTooLargeError;
          reason = toConnectionError(error);
        } finally {
          frames.cancel();
          if (clock.now() - openedAt >= healthyAfter) this.#backoff.reset();
        }
      }
      await this.#pause(reason);
      if (isExpired) return;
    }
  }

  async #open(): Promise<FrameReader> {
    const signal = this.#signal;
    const { clock } = this.#source;
    const { response, close } = await this.#source.open(this.#position, signal);
    try {
      return openEventStream(response, { clock, signal, maxBytes: maxFrameBytes, close });
    } catch (error) {
      throw toConnectionError(error);
    }
  }

  /** Applies events until the connection ends or fails, and throws the reason. */
  async #follow(frames: FrameReader, until: number): Promise<never> {
    while (true) {
      const batch = await frames.read(idleTimeout, until);
      if (!batch) throw new Error("the server ended the stream");
      for (const frame of batch) {
        this.#apply(frame);
        // Heartbeats and events that this version doesn't know move the position, too.
        if (frame.id) this.#position = frame.id;
      }
    }
  }

  /** An event that can't be read, or for which there is no room, is skipped: the next list makes up for it. */
  #apply({ event, data }: Frame): void {
    if (event !== "created" && event !== "claimed" && event !== "claimed_offline" && event !== "expired")
      return;
    const request = parseJson(data);
    if (!isRequest(request)) return;
    const { requests } = this.#view;
    if (event === "claimed" || event === "expired") this.#view.remove(request.id, event);
    else if (requests.size < mostRequests || requests.has(request.id)) this.#view.upsert(request, event);
  }

  async #pause(reason: unknown): Promise<void> {
    this.#events.onRetry({ attempt: this.#backoff.failures + 1, reason });
    await this.#backoff.pause(this.#signal, ApiError.isInstance(reason) ? reason.retryAfterMs : undefined);
  }
}

/** Whether a listing broke because its page cursors expired, and not because the key may not list at all. */
function areCursorsExpired(error: unknown, { streamCursor }: Listing): boolean {
  if (!ApiError.isInstance(error) || error.status === 401 || error.status === 403) return false;
  return streamCursor !== "" || error.status === 410 || error.status < 300;
}

function checkPosition({ streamCursor }: { streamCursor: string }): string {
  if (typeof streamCursor === "string" && streamCursor !== "") return streamCursor;
  const code = "invalid_response";
  throw new ApiError(`GET ${listPath} -> 200 ${code}: the page has no "streamCursor"`, {
    status: 200,
    method: "GET",
    path: listPath,
    code,
  });
}

function toConnectionError(cause: unknown): ConnectionError {
  const path = `${listPath}/stream`;
  return new ConnectionError(`GET ${path}: ${messageOf(cause)}`, { method: "GET", path, cause });
}

const isRequest = (value: unknown): value is PendingRequest =>
  typeof (value as PendingRequest | null | undefined)?.id === "string";
