/** Mints the ids of one emulator: the same calls give the same ids, in each test anew. */
export class Ids {
  #count = 0;
  #requests = 0;
  #streamMs = 0;
  #streamSequence = 0;

  uuid(): string {
    return `00000000-0000-4000-8000-${(++this.#count).toString(16).padStart(12, "0")}`;
  }

  /** Id of a request, counted apart so that more requests don't change the ids of agents and runs. */
  requestId(): string {
    return `req-${String(++this.#requests).padStart(8, "0")}`;
  }

  /** `<epoch-ms>-<n>`: strictly rising over all runs, n is 0 unless the millisecond repeats. */
  streamId(now: number): string {
    const ms = Math.max(Math.floor(now), this.#streamMs);
    this.#streamSequence = ms === this.#streamMs ? this.#streamSequence + 1 : 0;
    this.#streamMs = ms;
    return `${ms}-${this.#streamSequence}`;
  }
}
