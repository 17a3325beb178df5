import type { Clock } from "../clock.ts";

/** Names of the events about changes of the queue. */
export type QueueEventName = "created" | "claimed" | "claimed_offline" | "expired";

/** One change of the queue, with the data of its time. @internal */
export interface QueueEvent {
  /** 1 for the first event; without gaps. */
  sequence: number;
  at: number;
  name: QueueEventName;
  data: object;
  owner: string;
  pool: string | undefined;
  repoUrl: string | undefined;
}

/** The retained changes of the queue. Any number of watches read them by position. @internal */
export class QueueLog {
  readonly #clock: Clock;
  readonly #events: QueueEvent[] = [];
  readonly #listeners = new Set<() => void>();
  #forgotten = 0;
  #drops = 0;
  #keepEvents = Number.POSITIVE_INFINITY;
  #keepMs = Number.POSITIVE_INFINITY;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the log is complete. */
  get closed(): boolean {
    return this.#closed;
  }

  /** The position after the newest event. */
  get position(): number {
    return this.#forgotten + this.#events.length;
  }

  append(event: Omit<QueueEvent, "sequence" | "at">): void {
    if (this.#drops > 0) {
      this.#drops -= 1;
      return;
    }
    this.#events.push({ ...event, sequence: this.position + 1, at: this.#clock.now() });
    this.#forget();
    this.#notify();
  }

  /** Whether the retained events still reach back to this position. */
  covers(position: number): boolean {
    this.#forget();
    return position >= this.#forgotten;
  }

  /** The event that follows a covered position. */
  after(position: number): QueueEvent | undefined {
    return this.#events[position - this.#forgotten];
  }

  dropNext(count: number): void {
    this.#drops += count;
  }

  retain(window: { events?: number; ms?: number }): void {
    this.#keepEvents = window.events ?? Number.POSITIVE_INFINITY;
    this.#keepMs = window.ms ?? Number.POSITIVE_INFINITY;
    this.#forget();
    this.#notify();
  }

  /** Calls back at each change. Returns a function that ends the subscription. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#closed = true;
    this.#notify();
  }

  #forget(): void {
    const oldest = this.#clock.now() - this.#keepMs;
    const kept = this.#events.findIndex((event) => event.at >= oldest);
    const old = kept < 0 ? this.#events.length : kept;
    const surplus = Math.max(old, this.#events.length - this.#keepEvents);
    if (surplus <= 0) return;
    this.#events.splice(0, surplus);
    this.#forgotten += surplus;
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}
