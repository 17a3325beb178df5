import type { PendingRequest } from "../index.ts";

/** Where a change comes from: a listing, or the event of this name. */
export type RequestChangeReason = "list" | "created" | "claimed" | "claimed_offline" | "expired";

/** One difference between what a reader has received and the queue as it is now. */
export type RequestChange =
  | { type: "added" | "updated"; id: string; request: PendingRequest; reason: RequestChangeReason }
  | { type: "removed"; id: string; request?: undefined; reason: RequestChangeReason };

/** The queue as far as it is known, and the readers that follow it. */
export class QueueView {
  readonly requests = new Map<string, PendingRequest>();
  #readers = new Set<ChangeReader>();

  /** Adds or updates a request. An equal one changes nothing. */
  upsert(request: PendingRequest, reason: RequestChangeReason): void {
    const known = this.requests.get(request.id);
    if (known && JSON.stringify(known) === JSON.stringify(request)) return;
    this.requests.set(request.id, request);
    this.#changed(request.id, reason);
  }

  /** Removes a request. An unknown one changes nothing. */
  remove(id: string, reason: RequestChangeReason): void {
    if (this.requests.delete(id)) this.#changed(id, reason);
  }

  /** Replaces the view by a whole listing. */
  replace(listed: ReadonlyMap<string, PendingRequest>): void {
    for (const id of [...this.requests.keys()]) if (!listed.has(id)) this.remove(id, "list");
    for (const request of listed.values()) this.upsert(request, "list");
  }

  /** A reader that starts with every request that is in the view. */
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
 * One reader's changes, kept per id and not per event. However slow the reader is, it holds only ids that are in the queue
 * or that it has delivered, and each change is true at the moment it is taken.
 */
export class ChangeReader {
  readonly #requests: ReadonlyMap<string, PendingRequest>;
  readonly #onChange: () => void;
  /** Ids of the requests that were delivered, and whose removal was not. */
  readonly #delivered = new Set<string>();
  readonly #changed: Map<string, RequestChangeReason>;

  constructor(requests: ReadonlyMap<string, PendingRequest>, onChange: () => void) {
    this.#requests = requests;
    this.#onChange = onChange;
    this.#changed = new Map([...requests.keys()].map((id) => [id, "list"]));
  }

  /** How many ids it holds, for tests of its bounds. */
  get size(): number {
    return this.#delivered.size + this.#changed.size;
  }

  /** Records that a request was added, updated or removed. */
  note(id: string, reason: RequestChangeReason): void {
    // A request that came and went before it was delivered is not reported at all.
    if (!this.#requests.has(id) && !this.#delivered.has(id)) this.#changed.delete(id);
    else this.#changed.set(id, reason);
    this.#onChange();
  }

  /** The next change, or undefined when the reader is up to date. */
  take(): RequestChange | undefined {
    const [next] = this.#changed;
    if (!next) return undefined;
    const [id, reason] = next;
    this.#changed.delete(id);
    const request = this.#requests.get(id);
    if (!request) {
      this.#delivered.delete(id);
      return { type: "removed", id, reason };
    }
    const type = this.#delivered.has(id) ? "updated" : "added";
    this.#delivered.add(id);
    return { type, id, request, reason };
  }
}
