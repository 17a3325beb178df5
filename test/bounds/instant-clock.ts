import type { Clock } from "cursor-cloud-agents";

/** Time that passes when nothing else happens: each timer fires, in order, as soon as all is quiet. */
export class InstantClock implements Clock {
  #now = 1_767_225_600_000;
  #timers = new Map<object, { at: number; callback: () => void }>();
  #isTurning = false;

  now(): number {
    return this.#now;
  }

  setTimeout(callback: () => void, ms: number): unknown {
    const handle = {};
    this.#timers.set(handle, { at: this.#now + Math.max(0, ms), callback });
    if (!this.#isTurning) this.#turn(2);
    this.#isTurning = true;
    return handle;
  }

  clearTimeout(handle: unknown): void {
    this.#timers.delete(handle as object);
  }

  /** Timers that are not over yet. */
  get pending(): number {
    return this.#timers.size;
  }

  /** What goes on in memory is through after a turn or two of the event loop. */
  #turn(left: number): void {
    setImmediate(() => {
      if (left > 0 && this.#timers.size > 0) return this.#turn(left - 1);
      let first: [object, { at: number; callback: () => void }] | undefined;
      for (const entry of this.#timers) if (!first || entry[1].at < first[1].at) first = entry;
      if (!first) {
        this.#isTurning = false;
        return;
      }
      this.#timers.delete(first[0]);
      this.#now = Math.max(this.#now, first[1].at);
      first[1].callback();
      this.#turn(2);
    });
  }
}
