import type { PendingRequest } from "../types.ts";

/** What told of a change: a listing, or the event of this name. */
export type RequestChangeReason = "list" | "created" | "claimed" | "claimed_offline" | "expired";

/** One difference between what a reader was last told and the queue as it is now. */
export type RequestChange =
  | { type: "added" | "updated"; id: string; request: PendingRequest; reason: RequestChangeReason }
  | { type: "removed"; id: string; request?: undefined; reason: RequestChangeReason };

/** The queue as far as it is known, and those who follow it. */
export class QueueView {
  readonly requests = new Map<string, PendingRequest>();
  #readers = new Set<ChangeReader>();

  /** Idempotent: a request that is known just so is no news. */
  upsert(request: PendingRequest, reason: RequestChangeReason): void {
    const known = this.requests.get(request.id);
    if (known && JSON.stringify(known) === JSON.stringify(request)) return;
    this.requests.set(request.id, request);
    this.#changed(request.id, reason);
  }

  /** Idempotent: a request that was never seen is no news. */
  remove(id: string, reason: RequestChangeReason): void {
    if (this.requests.delete(id)) this.#changed(id, reason);
  }

  /** Takes over a whole listing. */
  replace(listed: ReadonlyMap<string, PendingRequest>): void {
    for (const id of [...this.requests.keys()]) if (!listed.has(id)) this.remove(id, "list");
    for (const request of listed.values()) this.upsert(request, "list");
  }

  /** A reader that begins with everything there is. */
  read(onChange: () => void): ChangeReader {
    const reader = new ChangeReader(this.requests, onChange);
    this.#readers.add(reader);
    return reader;
  }

  leave(reader: ChangeReader): void {
    this.#readers.delete(reader);
  }

  #changed(id: string, reason: RequestChangeReason): void {
    for (const reader of this.#readers) reader.note(id, reason);
  }
}

/**
 * One reader's changes. Kept per id, not per event: however slow the reader, it holds no more than the ids of the queue
 * and of what it was told, and what it hears next is true at that moment.
 */
export class ChangeReader {
  readonly #requests: ReadonlyMap<string, PendingRequest>;
  readonly #onChange: () => void;
  /** Ids the reader was told of. */
  readonly #told = new Set<string>();
  readonly #changed: Map<string, RequestChangeReason>;

  constructor(requests: ReadonlyMap<string, PendingRequest>, onChange: () => void) {
    this.#requests = requests;
    this.#onChange = onChange;
    this.#changed = new Map([...requests.keys()].map((id) => [id, "list"]));
  }

  /** How many ids it holds, for tests of its bounds. */
  get size(): number {
    return this.#told.size + this.#changed.size;
  }

  note(id: string, reason: RequestChangeReason): void {
    // Came and went before the reader heard of it.
    if (!this.#requests.has(id) && !this.#told.has(id)) this.#changed.delete(id);
    else this.#changed.set(id, reason);
    this.#onChange();
  }

  take(): RequestChange | undefined {
    const [next] = this.#changed;
    if (!next) return undefined;
    const [id, reason] = next;
    this.#changed.delete(id);
    const request = this.#requests.get(id);
    if (!request) {
      this.#told.delete(id);
      return { type: "removed", id, reason };
    }
    const type = this.#told.has(id) ? "updated" : "added";
    this.#told.add(id);
    return { type, id, request, reason };
  }
}
