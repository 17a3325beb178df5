import { lazy } from "../lazy.ts";
import { checkSignal } from "../options.ts";
import type { ControllerLoop, ControllerSource } from "./controller-loop.ts";
import { checkControllerOptions, type RequestControllerOptions } from "./controller-options.ts";
import { checkOnlyFilters } from "./request-filters.ts";
import type { QueueHandle } from "./request-queue.ts";

const loadLoop = lazy("the fleet's controller", () => import("./controller-loop.ts"));

/** Claims requests as they come and hands each to `start`; see {@link PendingRequests.controller}. */
export class RequestController {
  /** Resolves when the controller has stopped and nothing is in hand; rejects with what ended the watch. */
  readonly done: Promise<void>;
  readonly #queue: QueueHandle;
  #loop: ControllerLoop | undefined;
  #isStopped = false;

  /** @internal */
  constructor(options: RequestControllerOptions, source: ControllerSource) {
    checkControllerOptions(options);
    const filters = checkOnlyFilters(options.filters);
    const signal = checkSignal(options.signal);
    this.#queue = source.watch(filters);
    const onAbort = () => this.#stop();
    if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
    const run = async () => {
      const { ControllerLoop } = await loadLoop().catch((error: unknown) => {
        this.#stop();
        options.onError?.(error);
        throw error;
      });
      this.#loop = new ControllerLoop(options, source, filters, this.#queue);
      if (this.#isStopped) this.#loop.stop();
      await this.#loop.run();
    };
    this.done = run().finally(() => signal?.removeEventListener("abort", onAbort));
    this.done.catch(() => {}); // onError has heard of it
  }

  /** No new claims from here on; resolves when what is in hand is started, or given back. */
  async stop(): Promise<void> {
    this.#stop();
    await this.done.catch(() => {});
  }

  #stop(): void {
    this.#isStopped = true;
    this.#queue.stop();
    this.#loop?.stop();
  }
}
