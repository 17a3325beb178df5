import { onAbort } from "../async.ts";
import { checkSignal } from "../check.ts";
import { lazy } from "../lazy.ts";
import type { ControllerLoop, ControllerSource } from "./controller-loop.ts";
import { checkControllerOptions, type RequestControllerOptions } from "./controller-options.ts";
import { type CheckedFilters, checkOnlyFilters } from "./requests.ts";

const loadLoop = lazy("the fleet's controller", () => import("./controller-loop.ts"));

/** Claims requests as they come and hands each to `start`; see {@link PendingRequests.controller}. */
export class RequestController {
  /** Resolves when the controller has stopped and nothing is in hand; rejects with what ended the watch. */
  readonly done: Promise<void>;
  #loop: ControllerLoop | undefined;
  #isStopped = false;

  /** @internal */
  constructor(options: RequestControllerOptions, source: ControllerSource) {
    checkControllerOptions(options);
    const filters = checkOnlyFilters(options.filters);
    const signal = checkSignal("signal", options.signal);
    const release = onAbort(signal, () => this.#stop());
    this.done = this.#run(options, source, filters).finally(release);
    this.done.catch(() => {}); // onError has heard of it
  }

  /** No new claims from here on; resolves when what is in hand is started, or given back. */
  async stop(): Promise<void> {
    this.#stop();
    await this.done.catch(() => {});
  }

  #stop(): void {
    this.#isStopped = true;
    this.#loop?.stop();
  }

  async #run(
    options: RequestControllerOptions,
    source: ControllerSource,
    filters: CheckedFilters,
  ): Promise<void> {
    const fail = (error: unknown): never => {
      options.onError?.(error);
      throw error;
    };
    // The order matters: a controller that can't be loaded must not leave a watch behind.
    const { ControllerLoop } = await loadLoop().catch(fail);
    const queue = await source.watch(filters).catch(fail);
    this.#loop = new ControllerLoop(options, source, filters, queue);
    if (this.#isStopped) this.#loop.stop();
    await this.#loop.run();
  }
}
