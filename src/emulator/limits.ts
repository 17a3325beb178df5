import type { Clock } from "./clock.ts";

/** So many requests in any window of so many milliseconds. */
export interface LimitRule {
  count: number;
  windowMs: number;
}

/** Sliding-window counters. @internal */
export class Limits {
  readonly #clock: Clock;
  readonly #taken = new Map<string, number[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a request; 0 if it may pass, else the milliseconds until the next one may. A refused request is not counted. */
  take(name: string, rules: readonly LimitRule[]): number {
    const now = this.#clock.now();
    const longest = Math.max(...rules.map((rule) => rule.windowMs));
    const taken = (this.#taken.get(name) ?? []).filter((at) => at > now - longest);
    this.#taken.set(name, taken);
    let wait = 0;
    for (const { count, windowMs } of rules) {
      const oldest = taken.filter((at) => at > now - windowMs).at(-count);
      if (oldest !== undefined) wait = Math.max(wait, oldest + windowMs - now);
    }
    if (wait === 0) taken.push(now);
    return wait;
  }

  clear(): void {
    this.#taken.clear();
  }
}
