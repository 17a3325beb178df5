import { type Clock, sleep } from "../clock.ts";
import { ApiError, ConnectionError } from "../errors.ts";
import { discard } from "../http/body.ts";
import { backoff } from "../http/retry.ts";
import type { Page, PagePromise } from "../pagination.ts";
import { judgeRefusal } from "../run-stream/refusal.ts";
import { type Frame, FrameReader, FrameTooLargeError, IdleError, isEventStream } from "../sse/frames.ts";
import type { PendingRequest } from "../types.ts";
import { QueueView } from "./queue-view.ts";

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

/** One who looks at the view. */
export interface QueueMember {
  /** The first listing is in the view. */
  onSynced(): void;
  onRetry(info: { attempt: number; reason: unknown }): void;
  /** The server refuses for good. */
  onFailure(error: unknown): void;
}

interface Listing {
  requests: Map<string, PendingRequest>;
  streamCursor: string;
  /** When its first page was asked for: no later than the server counts from. */
  at: number;
}

/**
 * The loop behind all watches of one filter: list, follow the changes, list again. One request or connection at a time,
 * and the old connection is closed before the next is opened, since an account may hold four. So a listing replaces a
 * view that stands still, and what happens meanwhile is replayed by the new connection from the listing's position.
 */
export class QueueUpstream {
  readonly view = new QueueView();
  isSynced = false;
  isOver = false;
  onOver: () => void = () => {};
  readonly #source: QueueSource;
  readonly #members = new Set<QueueMember>();
  readonly #controller = new AbortController();
  /** Failures in a row since the last good connection. */
  #failures = 0;
  #position = "";

  constructor(source: QueueSource) {
    this.#source = source;
  }

  /** The first member sets the loop going. */
  join(member: QueueMember): void {
    this.#members.add(member);
    if (this.#members.size > 1) return;
    this.#run().catch((error: unknown) => {
      if (this.isOver) return;
      this.#end();
      for (const other of this.#members) other.onFailure(error);
    });
  }

  /** The last member to leave ends the loop, and with it whatever it is at. */
  leave(member: QueueMember): void {
    if (this.#members.delete(member) && this.#members.size === 0) this.#end();
  }

  #end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#controller.abort();
    this.onOver();
  }

  async #run(): Promise<void> {
    await undefined; // whoever joins with an aborted signal leaves before anything is sent
    while (true) {
      this.#controller.signal.throwIfAborted();
      const { requests, streamCursor, at } = await this.#list();
      this.view.replace(requests);
      this.#position = streamCursor;
      if (!this.isSynced) {
        this.isSynced = true;
        for (const member of this.#members) member.onSynced();
      }
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
    const { signal } = this.#controller;
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
        this.#controller.signal.throwIfAborted();
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
        this.#controller.signal.throwIfAborted();
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
          this.#controller.signal.throwIfAborted();
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
    const { signal } = this.#controller;
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
    if (event === "created" || event === "claimed_offline") this.view.upsert(request, event);
    else this.view.remove(request.id, event);
  }

  /** Between half a step and a whole one, so that clients that failed together come back apart, and none at once. */
  async #pause(reason: unknown): Promise<void> {
    const attempt = ++this.#failures;
    for (const member of this.#members) member.onRetry({ attempt, reason });
    const { clock, random } = this.#source;
    const asked = ApiError.isInstance(reason) ? reason.retryAfterMs : undefined;
    const delay = backoff(attempt - 1, backoffBase, backoffCap, () => (1 + random()) / 2);
    const wait = asked === undefined ? delay : Math.max(delay, Math.min(asked, longestRetryAfter));
    await sleep(clock, wait, this.#controller.signal);
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
