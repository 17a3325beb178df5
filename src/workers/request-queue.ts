import { onAbort } from "../async.ts";
import {
  type Checked,
  checkCallback,
  checkObject,
  checkOptions,
  checkSignal,
  checkTimeout,
  type OptionTable,
} from "../check.ts";
import { CursorError } from "../errors.ts";
import type { Cursor, PendingRequest, PendingRequestFilters } from "../index.ts";
import type { RetryInfo } from "./queue-loop.ts";
import { type QueueMember, type QueueUpstream, upstreamOf } from "./queue-upstream.ts";
import type { ChangeReader, RequestChange } from "./queue-view.ts";

/** How the queue is watched. */
export interface WatchRequestsOptions {
  /** Stops the watch when it aborts: the readers reject with `signal.reason`. */
  signal?: AbortSignal | undefined;
  /** Milliseconds after which the watch stops by itself, and its readers end. @default no limit */
  budgetMs?: number | undefined;
  /**
   * Called before each new attempt after a failure; `attempt` counts from the last good connection. Meanwhile the view
   * stays as it was after the last success.
   */
  onRetry?: ((info: { attempt: number; reason: unknown }) => void) | undefined;
}

const watchOptions = {
  signal: checkSignal,
  budgetMs: checkTimeout,
  onRetry: checkCallback,
} satisfies OptionTable<WatchRequestsOptions>;

/**
 * A view of the pending requests that keeps itself current. Iterate it for the changes, starting with all requests that
 * are there; a slow reader receives the latest state of each request, not every step.
 *
 * Leaving the last loop stops the queue, as `stop()` does, and closes its connection.
 */
export interface RequestQueue extends AsyncIterable<RequestChange>, AsyncDisposable {
  /** The requests as they are known now, by id: a copy. After a failure, as they were last known. */
  current(): Map<string, PendingRequest>;
  /** Resolves when the first listing is complete; rejects when there won't be one. */
  readonly synced: Promise<void>;
  /** Stops the queue for good. Its readers end. */
  stop(): void;
}

/**
 * A local view of the queue that keeps itself current: it lists, then follows the stream of changes, lists again before
 * the stream's position is five minutes old, and continues through connection failures. It starts at once, and runs until
 * it is stopped, by `stop()`, `signal`, `budgetMs` or by leaving its loop.
 *
 * All watches with the same filters on one client share one connection; an account may hold four.
 *
 * @param cursor A client with a service-account key
 * @throws ArgumentError at once; the iteration and `synced` reject with ApiError for a response that no retry can change
 *   (400, 401, 403)
 * @see Watch Pending Pool Requests
 * @example
 * for await (const change of watchRequests(cursor, { pool: "gpu" })) {
 *   if (change.type === "added") console.log("waiting:", change.request.repoUrl);
 * }
 */
export function watchRequests(
  cursor: Cursor,
  filters?: PendingRequestFilters,
  options: WatchRequestsOptions = {},
): RequestQueue {
  return openQueue(cursor, filters, options);
}

/** Does what {@link watchRequests} does, and returns the class, which also has the live view. */
export function openQueue(
  cursor: Cursor,
  filters: PendingRequestFilters | undefined,
  options: WatchRequestsOptions,
): Watch {
  checkObject("options", options);
  const checked = checkOptions<WatchRequestsOptions, typeof watchOptions>(watchOptions, options);
  return new Watch(upstreamOf(cursor, filters), checked);
}

type Next = IteratorResult<RequestChange, undefined>;
const end: Next = { done: true, value: undefined };

/** How a watch, or one of its readers, has ended. */
interface Ending {
  error: unknown;
  /** Whether readers reject with the error; after a stop they just end. */
  isFailure: boolean;
  /** Whether changes that are known but not yet delivered are dropped. */
  isImmediate: boolean;
}

const left: Ending = { error: undefined, isFailure: false, isImmediate: true };

interface Reader {
  changes: ChangeReader;
  /** Calls of `next()` that wait for a change. */
  waiting: { resolve(next: Next): void; reject(reason: unknown): void }[];
  hasLeft: boolean;
}

/** One caller's watch on a shared upstream. */
export class Watch implements RequestQueue, QueueMember {
  readonly synced: Promise<void>;
  readonly #upstream: QueueUpstream;
  readonly #callback: WatchRequestsOptions["onRetry"];
  readonly #readers = new Set<Reader>();
  #ending: Ending | undefined;
  #resolveSynced: () => void = () => {};
  #rejectSynced: (reason: unknown) => void = () => {};
  /** Stops listening to the signal and the budget's timer. */
  #release: () => void = () => {};

  constructor(upstream: QueueUpstream, options: Checked<WatchRequestsOptions, typeof watchOptions>) {
    const { signal, budgetMs = Number.POSITIVE_INFINITY, onRetry } = options;
    this.#upstream = upstream;
    this.#callback = onRetry;
    this.synced = new Promise((resolve, reject) => {
      this.#resolveSynced = resolve;
      this.#rejectSynced = reject;
    });
    // Mark as handled: a caller who only iterates receives the error there.
    this.synced.catch(() => {});
    if (upstream.isSynced) this.onSynced();
    upstream.join(this);

    const { clock } = upstream;
    const timer =
      budgetMs === Number.POSITIVE_INFINITY ? undefined : clock.setTimeout(() => this.stop(), budgetMs);
    const stopListening = onAbort(signal, () => {
      this.#end({ error: signal?.reason, isFailure: true, isImmediate: true });
    });
    this.#release = () => {
      stopListening();
      clock.clearTimeout(timer);
    };
    // A signal that had aborted before ended the watch while `#release` still did nothing.
    if (this.#ending) this.#release();
  }

  /** The live view, which all watches share: not to be changed. */
  get requests(): ReadonlyMap<string, PendingRequest> {
    return this.#upstream.view.requests;
  }

  current(): Map<string, PendingRequest> {
    return new Map(this.requests);
  }

  stop(): void {
    const error = new CursorError("the queue was stopped before its first list");
    this.#end({ error, isFailure: false, isImmediate: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
  }

  onSynced(): void {
    this.#resolveSynced();
  }

  onRetry(info: RetryInfo): void {
    try {
      this.#callback?.(info);
    } catch (error) {
      // Ends the watch of the callback's owner, not those that share the upstream.
      this.onFailure(error);
    }
  }

  onFailure(error: unknown): void {
    this.#end({ error, isFailure: true, isImmediate: false });
  }

  #end(ending: Ending): void {
    if (this.#ending) return;
    this.#ending = ending;
    this.#release();
    this.#upstream.leave(this);
    this.#rejectSynced(ending.error);
    for (const reader of this.#readers) {
      this.#upstream.view.leave(reader.changes);
      this.#serve(reader);
    }
  }

  [Symbol.asyncIterator](): AsyncIterator<RequestChange, undefined> {
    const { view } = this.#upstream;
    const reader: Reader = {
      changes: view.read(() => this.#serve(reader)),
      waiting: [],
      hasLeft: false,
    };
    if (this.#ending) view.leave(reader.changes);
    else this.#readers.add(reader);
    return {
      next: () =>
        new Promise<Next>((resolve, reject) => {
          reader.waiting.push({ resolve, reject });
          this.#serve(reader);
        }),
      return: async () => {
        reader.hasLeft = true;
        view.leave(reader.changes);
        this.#serve(reader);
        if (this.#readers.delete(reader) && this.#readers.size === 0) this.stop();
        return end;
      },
    };
  }

  /** Answers waiting calls: with a change, with the end, or with the error that ended the watch. */
  #serve({ changes, waiting, hasLeft }: Reader): void {
    const ending = hasLeft ? left : this.#ending;
    while (waiting.length > 0) {
      const change = ending?.isImmediate ? undefined : changes.take();
      if (!change && !ending) return;
      const call = waiting.shift();
      if (change) call?.resolve({ done: false, value: change });
      else if (ending?.isFailure) call?.reject(ending.error);
      else call?.resolve(end);
    }
  }
}
