import type { QueueSource } from "./queue-loop.ts";
import { QueueUpstream } from "./queue-upstream.ts";
import { QueueHandle, type WatchRequestsOptions } from "./request-queue.ts";
import type { CheckedFilters } from "./requests.ts";

/** The watches of one client. All of one filter share one upstream: an account may hold four streams. */
export class Watches {
  readonly #source: (filters: CheckedFilters) => QueueSource;
  readonly #upstreams = new Map<string, QueueUpstream>();

  constructor(source: (filters: CheckedFilters) => QueueSource) {
    this.#source = source;
  }

  /** @param options Checked */
  open(filters: CheckedFilters, options: WatchRequestsOptions): QueueHandle {
    const source = this.#source(filters);
    const key = JSON.stringify([filters.repository, filters.pool]);
    return new QueueHandle(options, source.clock, () => {
      const known = this.#upstreams.get(key);
      if (known && !known.isOver) return known;
      const upstream = new QueueUpstream(source);
      this.#upstreams.set(key, upstream);
      upstream.onOver = () => {
        if (this.#upstreams.get(key) === upstream) this.#upstreams.delete(key);
      };
      return upstream;
    });
  }
}
