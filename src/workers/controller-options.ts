import { checkCallback, checkCount, checkNames, checkObject } from "../check.ts";
import { unexpected } from "../errors.ts";
import type { Claim, PendingRequest } from "../types.ts";
import type { PendingRequestFilters } from "./requests.ts";

/** What a worker is started for. */
export interface ControllerClaim extends Claim {
  /** The request was claimed before: bring its own worker back, with the machine and the work on it. */
  revived?: true;
  /** The claim's answer was lost and the request has left the queue: most likely ours; if not, the worker idles. */
  outcome?: "unknown";
}

/** What `start` may say instead of failing: no worker will come, and this is what the waiting user is told. */
export interface StartRefusal {
  /** 1 to 500 characters. */
  fail: string;
}

/** How requests are claimed and started. */
export interface RequestControllerOptions {
  /** Which requests to serve. @default all that the key can see */
  filters?: PendingRequestFilters | undefined;
  /** How many requests are in hand at once, from their claim until `start` settles; 1 or more. */
  concurrency: number;
  /**
   * The id of the worker that would take the request: one of its own, never used before. Undefined: not now; it is asked
   * again within a minute, or when the request changes.
   */
  claim(request: PendingRequest): string | undefined | Promise<string | undefined>;
  /**
   * Starts the worker of a claim (`CURSOR_AGENT_WORKER_ID`); settles when it is under way, not when it is done. If it
   * throws, the claim is released, and the request is taken up again later, here or elsewhere. With `{ fail }` its user
   * is told instead (newer servers; others release).
   *
   * A claim with `revived` is seen by every controller of the pool: bring that worker back once, and only if it is yours.
   */
  start(request: PendingRequest, claim: ControllerClaim): void | StartRefusal | Promise<void | StartRefusal>;
  /** Hears of what went wrong with a request, and of what ended the watch. If it throws, the controller ends. */
  onError?: ((error: unknown, request?: PendingRequest) => void) | undefined;
  /** Stops the controller cleanly: `done` resolves. */
  signal?: AbortSignal | undefined;
}

const optionNames: (keyof RequestControllerOptions)[] = [
  "filters",
  "concurrency",
  "claim",
  "start",
  "onError",
  "signal",
];

export function checkControllerOptions(options: RequestControllerOptions): void {
  checkObject("options", options);
  checkNames(options, optionNames);
  checkCallback("onError", options.onError);
  const { concurrency } = options;
  checkCount("concurrency", concurrency ?? Number.NaN, 1);
  for (const name of ["claim", "start"] as const) {
    if (typeof options[name] !== "function") {
      throw unexpected(name, "a function", options[name]);
    }
  }
}
