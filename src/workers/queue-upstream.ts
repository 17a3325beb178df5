import type { Clock } from "../async.ts";
import type { Cursor, PendingRequestFilters } from "../index.ts";
import { QueueLoop, type QueueSource, type RetryInfo } from "./queue-loop.ts";
import { QueueView } from "./queue-view.ts";

/** One watch, as its upstream sees it. */
export interface QueueMember {
  /** The first listing is in the view. */
  onSynced(): void;
  onRetry(info: RetryInfo): void;
  /** The upstream has failed for good. */
  onFailure(error: unknown): void;
}

/** What all watches with the same filters on one client share: the view, and the loop that keeps it current. */
export class QueueUpstream {
  readonly view = new QueueView();
  readonly #source: QueueSource;
  readonly #onEnd: () => void;
  readonly #members = new Set<QueueMember>();
  readonly #controller = new AbortController();
  #isSynced = false;

  /** @param onEnd Called once, when the upstream has ended and can't be joined any more. */
  constructor(source: QueueSource, onEnd: () => void) {
    this.#source = source;
    this.#onEnd = onEnd;
  }

  get clock(): Clock {
    return this.#source.clock;
  }

  /** Whether a whole listing has been in the view. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** The first member starts the loop. */
  join(member: QueueMember): void {
    this.#members.add(member);
    if (this.#members.size > 1) return;
    this.#run().catch((error: unknown) => {
      if (this.#controller.signal.aborted) return;
      this.#end();
      for (const other of this.#members) other.onFailure(error);
    });
  }

  /** When the last member leaves, the loop ends, and so does its request or connection. */
  leave(member: QueueMember): void {
    if (this.#members.delete(member) && this.#members.size === 0) this.#end();
  }

  #end(): void {
    if (this.#controller.signal.aborted) return;
    this.#controller.abort();
    this.#onEnd();
  }

  async #run(): Promise<void> {
    // A member whose signal has aborted already joins and leaves in the same tick. The loop starts after that, so nothing
    // is sent for such a member.
    await undefined;
    const loop = new QueueLoop(this.view, this.#source, this.#controller.signal, {
      onSynced: () => this.#synced(),
      onRetry: (info) => {
        for (const member of this.#members) member.onRetry(info);
      },
    });
    await loop.run();
  }

  #synced(): void {
    if (this.#isSynced) return;
    this.#isSynced = true;
    for (const member of this.#members) member.onSynced();
  }
}

const upstreams = new WeakMap<Cursor, Map<string, QueueUpstream>>();

/**
 * The upstream of these filters on this client: the one that is running, or a new one. Watches share it, since an account
 * may hold four streams.
 * @throws ArgumentError for filters that can't work
 */
export function upstreamOf(cursor: Cursor, filters: PendingRequestFilters | undefined): QueueUpstream {
  const source = cursor.workers.requests.watchSource(filters);
  const ofClient = upstreams.get(cursor) ?? new Map<string, QueueUpstream>();
  upstreams.set(cursor, ofClient);
  const running = ofClient.get(source.key);
  if (running) return running;
  const upstream = new QueueUpstream(source, () => ofClient.delete(source.key));
  ofClient.set(source.key, upstream);
  return upstream;
}
