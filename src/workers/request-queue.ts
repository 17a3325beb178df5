import type { Clock } from "../async.ts";
import { CursorError } from "../errors.ts";
import type { PendingRequest } from "../types.ts";
import type { QueueMember, QueueUpstream } from "./queue-upstream.ts";
import type { ChangeReader, RequestChange } from "./queue-view.ts";

/** How the queue is watched. */
export interface WatchRequestsOptions {
  /** Stops the watch: its readers reject with `signal.reason`. */
  signal?: AbortSignal | undefined;
  /** Milliseconds after which the watch stops by itself, and its readers end. @default no limit */
  budgetMs?: number | undefined;
  /**
   * Called before each new try after something broke; `attempt` counts from the last good connection. The view is that
   * of the last success meanwhile.
   */
  onRetry?: ((info: { attempt: number; reason: unknown }) => void) | undefined;
}

/**
 * A view of the pending requests that keeps itself current. Iterate it for the changes, beginning with all that is
 * there; a slow reader is told the latest of each request, not every step.
 *
 * Leaving the last loop stops the queue, as `stop()` does: no connection is left behind.
 */
export interface RequestQueue extends AsyncIterable<RequestChange>, AsyncDisposable {
  /** The requests as they are known now, by id: a copy. After a failure, as they were known last. */
  current(): Map<string, PendingRequest>;
  /** Resolves when the first listing is complete; rejects when there won't be one. */
  readonly synced: Promise<void>;
  /** For good. Readers end. */
  stop(): void;
}

type Next = IteratorResult<RequestChange, undefined>;
const end: Next = { done: true, value: undefined };

/** One caller's hold on a shared upstream. */
export class QueueHandle implements RequestQueue, QueueMember {
  readonly synced: Promise<void>;
  readonly onRetry: QueueMember["onRetry"];
  readonly #upstream: QueueUpstream;
  readonly #readers = new Set<Reader>();
  #over: Over | undefined;
  #resolveSynced: () => void = () => {};
  #rejectSynced: (reason: unknown) => void = () => {};
  #release: () => void;

  constructor(options: WatchRequestsOptions, clock: Clock, upstream: () => QueueUpstream) {
    const { signal, budgetMs: budget = Number.POSITIVE_INFINITY, onRetry } = options;
    this.onRetry = (info) => {
      try {
        onRetry?.(info);
      } catch (error) {
        this.onFailure(error); // ends the watch of its owner, not everyone's
      }
    };
    this.synced = new Promise((resolve, reject) => {
      this.#resolveSynced = resolve;
      this.#rejectSynced = reject;
    });
    this.synced.catch(() => {}); // whoever asks hears of it; whoever iterates hears of it there

    const onAbort = () => this.#end({ error: signal?.reason, isFailure: true, atOnce: true });
    let timer: unknown;
    this.#release = () => {
      signal?.removeEventListener("abort", onAbort);
      if (timer !== undefined) clock.clearTimeout(timer);
    };
    this.#upstream = upstream();
    if (this.#upstream.isSynced) this.onSynced();
    this.#upstream.join(this);
    if (budget !== Number.POSITIVE_INFINITY) timer = clock.setTimeout(() => this.stop(), budget);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
  }

  /** The live view, which is everyone's: not to be changed. */
  get requests(): ReadonlyMap<string, PendingRequest> {
    return this.#upstream.view.requests;
  }

  current(): Map<string, PendingRequest> {
    return new Map(this.requests);
  }

  stop(): void {
    const error = new CursorError("the queue was stopped before its first list");
    this.#end({ error, isFailure: false, atOnce: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
  }

  onSynced(): void {
    this.#resolveSynced();
  }

  onFailure(error: unknown): void {
    this.#end({ error, isFailure: true, atOnce: false });
  }

  #end(over: Over): void {
    if (this.#over) return;
    this.#over = over;
    this.#release();
    this.#upstream.leave(this);
    this.#rejectSynced(over.error);
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
      isLeft: false,
    };
    if (this.#over) view.leave(reader.changes);
    else this.#readers.add(reader);
    return {
      next: () =>
        new Promise<Next>((resolve, reject) => {
          reader.waiting.push({ resolve, reject });
          this.#serve(reader);
        }),
      return: async () => {
        reader.isLeft = true;
        view.leave(reader.changes);
        this.#serve(reader);
        if (this.#readers.delete(reader) && this.#readers.size === 0) this.stop();
        return end;
      },
    };
  }

  /** Answers whoever waits: with a change, with the end, or with what ended it. */
  #serve({ changes, waiting, isLeft }: Reader): void {
    const over: Over | undefined = isLeft ? left : this.#over;
    while (waiting.length > 0) {
      const change = over?.atOnce ? undefined : changes.take();
      if (!change && !over) return;
      const { resolve, reject } = waiting.shift() as Waiting;
      if (change) resolve({ done: false, value: change });
      else if (over?.isFailure) reject(over.error);
      else resolve(end);
    }
  }
}

/** How a watch ended. */
interface Over {
  error: unknown;
  /** Readers hear of the error; after a stop they just end. */
  isFailure: boolean;
  /** What is known and not yet told is told no more. */
  atOnce: boolean;
}

const left: Over = { error: undefined, isFailure: false, atOnce: true };

interface Waiting {
  resolve(next: Next): void;
  reject(reason: unknown): void;
}

interface Reader {
  changes: ChangeReader;
  waiting: Waiting[];
  isLeft: boolean;
}
