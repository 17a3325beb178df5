import { race } from "../async.ts";
import { checkCallback, checkNames, checkObject, checkSignal, checkTimeout } from "../check.ts";
import { later } from "../lazy.ts";
import type { PendingRequest } from "../types.ts";
import type { RequestChange } from "./queue-view.ts";
import type { RequestQueue, WatchRequestsOptions } from "./request-queue.ts";

/** A queue whose machinery is on its way: what is asked of it meanwhile is done when it is here. */
export class LazyRequestQueue implements RequestQueue {
  readonly synced: Promise<void>;
  readonly #opening: Promise<RequestQueue>;
  #queue: RequestQueue | undefined;
  #isStopped = false;

  constructor(options: WatchRequestsOptions, open: () => Promise<RequestQueue>) {
    checkObject("options", options);
    checkNames(options, ["signal", "budgetMs", "onRetry"] satisfies (keyof WatchRequestsOptions)[]);
    checkCallback("onRetry", options.onRetry);
    checkTimeout("budgetMs", options.budgetMs);
    const signal = checkSignal("signal", options.signal);
    this.#opening = race(open(), { signal }).then((queue) => {
      this.#queue = queue;
      if (this.#isStopped) queue.stop();
      return queue;
    });
    this.synced = this.#opening.then((queue) => queue.synced);
    this.synced.catch(() => {}); // whoever asks hears of it; whoever iterates hears of it there
  }

  current(): Map<string, PendingRequest> {
    return this.#queue?.current() ?? new Map();
  }

  stop(): void {
    this.#isStopped = true;
    this.#queue?.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
  }

  [Symbol.asyncIterator](): AsyncIterator<RequestChange, undefined> {
    return this.#queue?.[Symbol.asyncIterator]() ?? later(this.#opening, (queue) => queue);
  }
}
