import { Backoff, type BackoffOptions, type Clock, onAbort } from "../async.ts";
import {
  anyValue,
  checkCallback,
  checkCount,
  checkObject,
  checkOptions,
  checkSignal,
  checkTimeout,
  type OptionTable,
  orDefault,
} from "../check.ts";
import { CursorError, TimeoutError, unexpected } from "../errors.ts";
import type { Cursor, PendingRequest, PendingRequestFilters } from "../index.ts";
import type { RequestChange } from "./queue-view.ts";
import {
  type CallbackContext,
  type ControllerClaim,
  type Doubt,
  Handling,
  type HandlingOutcome,
  RequestHandler,
  type StartRefusal,
} from "./request-handler.ts";
import { openQueue, type Watch } from "./request-queue.ts";

/** How requests are claimed and started. */
export interface RequestControllerOptions {
  /** Which requests to serve. @default all that the key can see */
  filters?: PendingRequestFilters | undefined;
  /** How many requests are handled at once, from their claim until `start` settles; 1 or more. */
  concurrency: number;
  /**
   * The id of the worker that would take the request: one of its own, never used before. Undefined means not now; the
   * controller asks again within a minute, and at once when the request changes.
   */
  claim(request: PendingRequest, context: CallbackContext): string | undefined | Promise<string | undefined>;
  /**
   * Starts the worker of a claim (`CURSOR_AGENT_WORKER_ID`); settles when the worker is on its way, not when it is done.
   * If it throws, the claim is released, and the request is handled again later, here or elsewhere. With `{ fail }` the
   * waiting user reads that message instead (newer servers; on others the claim is released).
   *
   * Every controller of the pool sees a claim with `revived`: bring that worker back once, and only if it is yours.
   *
   * Pass `context.signal` on: it aborts after `timeout`, when the waiting user has given up, and when the controller
   * stops. What arrives after the first two is ignored, and the claim is released; after a stop, `start` may finish.
   */
  start(
    request: PendingRequest,
    claim: ControllerClaim,
    context: CallbackContext,
  ): void | StartRefusal | Promise<void | StartRefusal>;
  /**
   * Milliseconds that `claim` and `start` may each take. Then `onError` receives a TimeoutError, a claim is released, and
   * the request is handled again later.
   * @default 600_000
   */
  timeout?: number | undefined;
  /** Milliseconds that a `start` under way may still take after a stop; then its claim is released. @default 600_000 */
  stopTimeout?: number | undefined;
  /** Receives what went wrong with a request, and what ended the watch. If it throws, the controller ends. */
  onError?: ((error: unknown, request?: PendingRequest) => void) | undefined;
  /** Stops the controller cleanly: `done` resolves. */
  signal?: AbortSignal | undefined;
}

const controllerOptions = {
  filters: anyValue, // checked by the watch
  concurrency: (argument, value) => checkCount(argument, value ?? Number.NaN, 1) as number,
  claim: checkFunction,
  start: checkFunction,
  timeout: orDefault(checkTimeout, 600_000),
  stopTimeout: orDefault(checkTimeout, 600_000),
  onError: checkCallback,
  signal: checkSignal,
} satisfies OptionTable<RequestControllerOptions>;

function checkFunction(argument: string, value: unknown): unknown {
  if (typeof value !== "function") throw unexpected(argument, "a function", value);
  return value;
}

/**
 * Claims requests as they arrive, each once among all controllers of the team, and hands each to `start`; gives back
 * what could not be started, and revives workers whose claimed requests wait for them. Runs until it is stopped.
 *
 * @param cursor A client with a service-account key
 * @throws ArgumentError at once
 * @see Claim A Pending Request
 * @example
 * const controller = controlRequests(cursor, {
 *   filters: { pool: "gpu" },
 *   concurrency: 10,
 *   claim: () => crypto.randomUUID(),
 *   start: (request, { workerId }) => startMachine({ CURSOR_AGENT_WORKER_ID: workerId }),
 *   onError: (error, request) => console.error(request?.id, error),
 *   signal,
 * });
 * await controller.done;
 */
export function controlRequests(cursor: Cursor, options: RequestControllerOptions): RequestController {
  return new RequestController(cursor, options);
}

/**
 * How long an entry is left alone after its request was lost or its worker was started. In this time at least one new
 * list arrives, which shows whether the request has left the queue; and a started worker, which the queue may list as
 * offline at first, has time to connect.
 */
const listedWithin = 5 * 60_000;

/**
 * What the controller does about a request at the moment.
 *
 * - `waiting`: it is handled as soon as there is room
 * - `in hand`: it is being claimed or started
 * - `declined`: there was no worker for it; it waits again when it changes, or when the timer fires
 * - `failed`: nothing happens before the timer fires, whatever the queue reports
 * - `lost`: another controller has it, and it is expected to leave the queue before the timer fires
 * - `started`: its worker was started here and is expected to connect before the timer fires
 */
type EntryState =
  | { name: "waiting"; doubt?: Doubt | undefined }
  | { name: "in hand"; handling: Handling }
  | { name: "declined" | "failed" | "lost" | "started"; timer: unknown };

/** One request, and what the controller knows about it beyond the queue. */
interface Entry {
  id: string;
  state: EntryState;
  backoff: Backoff;
}

/** A running controller; see {@link controlRequests}. */
export class RequestController {
  /** Resolves when the controller has stopped and no request is in hand; rejects with what ended the watch. */
  readonly done: Promise<void>;
  readonly #options: RequestControllerOptions;
  readonly #clock: Clock;
  readonly #pauses: BackoffOptions;
  readonly #queue: Watch;
  readonly #handler: RequestHandler;
  readonly #entries = new Map<string, Entry>();
  /** The entries in state "waiting", in the order in which they take their turn. */
  readonly #waiting = new Set<Entry>();
  readonly #inHand = new Map<Handling, Promise<void>>();
  readonly #stopTimeout: number;
  readonly #stopping = new AbortController();
  #stopTimer: unknown;
  #failure: { error: unknown } | undefined;

  /** @internal */
  constructor(cursor: Cursor, options: RequestControllerOptions) {
    checkObject("options", options);
    const { signal, timeout, stopTimeout } = checkOptions<RequestControllerOptions, typeof controllerOptions>(
      controllerOptions,
      options,
    );
    const source = cursor.workers.requests.watchSource(options.filters);
    this.#options = options;
    this.#clock = source.clock;
    this.#stopTimeout = stopTimeout;
    this.#pauses = { clock: source.clock, random: source.random, base: 2_000, cap: 60_000, jitter: [0.5, 1] };
    this.#handler = new RequestHandler({
      claims: cursor.workers.claims,
      list: () => source.list(),
      clock: source.clock,
      timeout,
      stopping: this.#stopping.signal,
      claim: (request, context) => options.claim(request, context),
      start: (request, claim, context) => options.start(request, claim, context),
      onError: (error, request) => options.onError?.(error, request),
    });
    this.#queue = openQueue(cursor, options.filters, {});
    const release = onAbort(signal, () => this.#stop());
    this.done = this.#run().finally(release);
    // Mark as handled: `onError` has received the error.
    this.done.catch(() => {});
  }

  /** Makes no new claims; resolves when the requests in hand are started, or, after `stopTimeout`, given back. */
  async stop(): Promise<void> {
    this.#stop();
    await this.done.catch(() => {});
  }

  #stop(): void {
    if (this.#isStopped) return;
    this.#stopping.abort(new CursorError("the controller was stopped"));
    this.#queue.stop();
    this.#waiting.clear();
    for (const entry of this.#entries.values()) this.#clearTimer(entry);
    if (this.#inHand.size === 0 || this.#stopTimeout === Number.POSITIVE_INFINITY) return;
    this.#stopTimer = this.#clock.setTimeout(() => {
      const message = `start: did not end within ${this.#stopTimeout} ms after the controller was stopped`;
      for (const handling of this.#inHand.keys())
        handling.end(new TimeoutError(message, { phase: "deadline" }));
    }, this.#stopTimeout);
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  async #run(): Promise<void> {
    try {
      for await (const change of this.#queue) this.#note(change);
    } catch (error) {
      this.#failure = { error };
      this.#stop();
      this.#options.onError?.(error);
    } finally {
      while (this.#inHand.size > 0) await Promise.all(this.#inHand.values());
      if (this.#stopTimer !== undefined) this.#clock.clearTimeout(this.#stopTimer);
    }
    if (this.#failure) throw this.#failure.error;
  }

  #note({ type, id, reason }: RequestChange): void {
    const entry = this.#entries.get(id);
    if (type === "removed") {
      if (entry) this.#left(entry, reason === "expired");
      return;
    }
    if (!entry) {
      this.#enter(id);
    } else if (entry.state.name === "declined") {
      this.#move(entry, { name: "waiting" });
    } else if (entry.state.name === "started" && (reason === "created" || reason === "claimed_offline")) {
      // Its worker has gone offline, or its claim has ended, so it needs a worker again. A list proves neither: the
      // worker that was started may not have connected yet.
      this.#move(entry, { name: "waiting" });
    }
    this.#fill();
  }

  #left(entry: Entry, isExpired: boolean): void {
    const { state } = entry;
    if (state.name === "in hand") state.handling.leave(isExpired);
    // A request in doubt has left the queue because it is claimed: perhaps by us, so its worker must still be started.
    else if (state.name === "lost" || (state.name === "waiting" && !state.doubt)) this.#forget(entry);
  }

  #enter(id: string): void {
    const entry: Entry = { id, state: { name: "waiting" }, backoff: new Backoff(this.#pauses) };
    this.#entries.set(id, entry);
    this.#waiting.add(entry);
  }

  #forget(entry: Entry): void {
    this.#clearTimer(entry);
    this.#waiting.delete(entry);
    this.#entries.delete(entry.id);
  }

  #move(entry: Entry, state: EntryState): void {
    this.#clearTimer(entry);
    entry.state = state;
    if (state.name === "waiting") this.#waiting.add(entry);
    else this.#waiting.delete(entry);
  }

  #clearTimer({ state }: Entry): void {
    if ("timer" in state) this.#clock.clearTimeout(state.timer);
  }

  /** Handles waiting requests while there is room. */
  #fill(): void {
    for (const entry of this.#waiting) {
      if (this.#isStopped || this.#inHand.size >= this.#options.concurrency) return;
      const doubt = entry.state.name === "waiting" ? entry.state.doubt : undefined;
      const request = doubt?.request ?? this.#queue.requests.get(entry.id);
      if (request) this.#handle(entry, request, doubt);
      else this.#forget(entry);
    }
  }

  #handle(entry: Entry, request: PendingRequest, doubt: Doubt | undefined): void {
    const handling = new Handling();
    this.#move(entry, { name: "in hand", handling });
    const work: Promise<void> = this.#handler
      .handle(request, handling, doubt)
      .then(
        (outcome) => this.#conclude(entry, request, outcome),
        (error: unknown) => {
          // Only an `onError` that throws gets here.
          this.#failure ??= { error };
          this.#stop();
        },
      )
      .then(() => {
        this.#inHand.delete(handling);
        this.#fill();
      });
    this.#inHand.set(handling, work);
  }

  #conclude(entry: Entry, request: PendingRequest, outcome: HandlingOutcome): void {
    if (this.#isStopped) return;
    const { name } = outcome;
    if (name === "started") {
      entry.backoff.reset();
      this.#setAside(entry, name, listedWithin + (request.wakeTimeoutMs ?? 0));
    } else if (name === "lost") {
      if (this.#queue.requests.has(entry.id)) this.#setAside(entry, name, listedWithin);
      else this.#forget(entry);
    } else if (name === "declined" && this.#hasChanged(entry, request)) {
      this.#move(entry, { name: "waiting" });
    } else {
      this.#setAside(entry, name, entry.backoff.next(), name === "failed" ? outcome.doubt : undefined);
    }
  }

  /** Whether a request has changed since it was taken from the queue: the view replaces what changes. */
  #hasChanged({ id }: Entry, request: PendingRequest): boolean {
    const now = this.#queue.requests.get(id);
    return now !== undefined && now !== request;
  }

  /** Leaves an entry alone for `ms`; then it waits for its turn again, unless it has left the queue and is not in doubt. */
  #setAside(entry: Entry, name: "declined" | "failed" | "lost" | "started", ms: number, doubt?: Doubt): void {
    const timer = this.#clock.setTimeout(() => {
      if (doubt || this.#queue.requests.has(entry.id)) this.#move(entry, { name: "waiting", doubt });
      else this.#forget(entry);
      this.#fill();
    }, ms);
    this.#move(entry, { name, timer });
  }
}
