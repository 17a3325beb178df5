import { type Clock, follow, onAbort, race } from "../async.ts";
import { ApiError, CursorError, TimeoutError } from "../errors.ts";
import type { Claim, Claims, PendingRequest } from "../index.ts";

/** What a worker is started for. */
export interface ControllerClaim extends Claim {
  /** The request was claimed before: bring its own worker back, with its machine and the work on it. */
  revived?: true;
  /**
   * The answer to the claim was lost, and the request has left the queue. Most likely the claim was made; if it was not,
   * the worker that you start stays idle.
   */
  outcome?: "unknown";
}

/** What `start` may return instead of throwing: no worker will come, and the waiting user reads this. */
export interface StartRefusal {
  /** 1 to 500 characters. */
  fail: string;
}

/** What `claim` and `start` receive beside the request. */
export interface CallbackContext {
  /** Aborts when nobody waits for the callback any more: its time is up, the request is gone, or the controller stops. */
  readonly signal: AbortSignal;
}

/** What the handling of a request needs of its controller. */
export interface RequestHandlerContext {
  claims: Claims;
  clock: Clock;
  /** Milliseconds that `claim` and `start` may each take. */
  timeout: number;
  /** Aborts when the controller stops. */
  stopping: AbortSignal;
  /** All pending requests of the controller's filters. */
  list(): AsyncIterable<PendingRequest>;
  claim(request: PendingRequest, context: CallbackContext): string | undefined | Promise<string | undefined>;
  start(
    request: PendingRequest,
    claim: ControllerClaim,
    context: CallbackContext,
  ): void | StartRefusal | Promise<void | StartRefusal>;
  onError(error: unknown, request: PendingRequest): void;
}

/** A claim whose answer was lost: it may have been made. */
export interface Doubt {
  name: "in doubt";
  request: PendingRequest;
  workerId: string;
}

/**
 * How the handling of a request ended.
 *
 * - `declined`: there is no worker for it now
 * - `lost`: another controller has claimed it, or it is gone
 * - `failed`: try again later; with a doubt, find out first whether the claim was made
 * - `started`: its worker is on its way, or its user knows that none will come
 */
export type HandlingOutcome =
  | { name: "declined" | "lost" | "started" }
  | { name: "failed"; doubt?: Doubt | undefined };

/** The handling of one request, and how its controller ends a callback that it need not wait for. */
export class Handling {
  /** What the request goes through; only callbacks can hang. */
  phase: "claim callback" | "request" | "start callback" = "request";
  readonly #ended = new AbortController();
  readonly #left = new AbortController();

  /** Aborts when nobody waits for the handling's callback any more. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** Aborts when the request has left the queue and the callback should know. */
  get left(): AbortSignal {
    return this.#left.signal;
  }

  /**
   * The request has left the queue. That says nothing while its claim is being made, which takes it out of the queue, too;
   * nor while its worker starts, unless its user has given up.
   */
  leave(isExpired: boolean): void {
    if (this.phase === "request" || (this.phase === "start callback" && !isExpired)) return;
    this.#left.abort(gone);
    if (this.phase === "start callback") this.#ended.abort(gone);
  }

  /** Gives up the callback. */
  end(reason: unknown): void {
    this.#ended.abort(reason);
  }
}

const gone = new CursorError("the request has left the queue");

type ClaimOutcome = { name: "claimed"; claim: ControllerClaim } | { name: "declined" | "lost" } | Doubt;

/** Takes requests from their claim to the start of their worker. */
export class RequestHandler {
  readonly #context: RequestHandlerContext;

  constructor(context: RequestHandlerContext) {
    this.#context = context;
  }

  /**
   * Claims a request and starts its worker.
   * @param knownDoubt A claim of an earlier attempt whose answer was lost: it is looked up before anything is claimed
   * @throws what `onError` throws
   */
  async handle(
    request: PendingRequest,
    handling: Handling,
    knownDoubt: Doubt | undefined,
  ): Promise<HandlingOutcome> {
    let doubt = knownDoubt;
    try {
      let outcome: ClaimOutcome = doubt ?? (await this.#claim(request, handling));
      if (outcome.name === "in doubt") {
        doubt = outcome;
        outcome = await this.#lookUp(doubt);
        doubt = undefined;
      }
      if (outcome.name !== "claimed") return outcome;
      return await this.#start(request, outcome.claim, handling);
    } catch (error) {
      this.#context.onError(error, request);
      return { name: "failed", doubt };
    }
  }

  async #claim(request: PendingRequest, handling: Handling): Promise<ClaimOutcome> {
    const { id, claimedWorkerId } = request;
    if (claimedWorkerId !== undefined) return claimed({ id, workerId: claimedWorkerId, revived: true });
    const { stopping } = this.#context;
    let workerId: string | undefined;
    try {
      workerId = await this.#call(handling, "claim", (context) => this.#context.claim(request, context));
    } catch (error) {
      if (stopping.aborted) return { name: "declined" };
      if (handling.left.aborted) return { name: "lost" };
      throw error;
    }
    if (workerId === undefined || workerId === null || stopping.aborted) return { name: "declined" };
    try {
      return claimed(await this.#context.claims.create({ id, workerId }));
    } catch (error) {
      if (hasStatus(error, 404, 409)) return { name: "lost" };
      if (!CursorError.isInstance(error) || error.outcome !== "unknown") throw error;
      this.#context.onError(error, request);
      return { name: "in doubt", request, workerId };
    }
  }

  /**
   * Finds out from the list whether a claim was made.
   * @throws what the list or the claim fails with: the doubt remains
   */
  async #lookUp({ request: { id }, workerId }: Doubt): Promise<Exclude<ClaimOutcome, Doubt>> {
    const listed = await this.#find(id);
    if (listed && listed.claimedWorkerId === undefined) {
      // The first claim has not been made so far, but its request may still arrive. A second claim does no harm, because it
      // is for the same worker: the server then rejects one of the two.
      try {
        return claimed(await this.#context.claims.create({ id, workerId }));
      } catch (error) {
        if (hasStatus(error, 404)) return { name: "lost" };
        if (!hasStatus(error, 409)) throw error;
      }
    }
    if (listed?.claimedWorkerId === workerId) return claimed({ id, workerId });
    if (listed?.claimedWorkerId !== undefined) return { name: "lost" };
    return claimed({ id, workerId, outcome: "unknown" });
  }

  async #find(id: string): Promise<PendingRequest | undefined> {
    for await (const request of this.#context.list()) if (request.id === id) return request;
    return undefined;
  }

  async #start(
    request: PendingRequest,
    claim: ControllerClaim,
    handling: Handling,
  ): Promise<HandlingOutcome> {
    let result: undefined | StartRefusal;
    try {
      const given = this.#call(handling, "start", (context) => this.#context.start(request, claim, context));
      result = (await given) ?? undefined;
    } catch (error) {
      const isGone = handling.left.aborted;
      // A start that ends because it was told to is no error.
      const { stopping } = this.#context;
      if (!isGone && !(stopping.aborted && error === stopping.reason)) this.#context.onError(error, request);
      await this.#giveBack(request, claim);
      return { name: isGone ? "lost" : "failed" };
    }
    if (result?.fail !== undefined) await this.#giveBack(request, claim, result.fail);
    return { name: "started" };
  }

  /**
   * Calls a callback of the controller's owner, which may hang: then it holds neither the controller nor other requests.
   * At a stop `claim` is given up at once, since nothing is claimed yet; `start` may finish what it has begun.
   */
  async #call<T>(
    handling: Handling,
    name: "claim" | "start",
    callback: (context: CallbackContext) => T | Promise<T>,
  ): Promise<T> {
    const { clock, timeout, stopping } = this.#context;
    const reason = () => new TimeoutError(`${name}: took more than ${timeout} ms`, { phase: "deadline" });
    const ended = follow(handling.ended, { clock, ms: timeout, reason });
    const given = follow(stopping);
    const abort = ({ reason }: AbortSignal) => given.abort(reason);
    const stopListening = [ended.signal, handling.left].map((signal) => onAbort(signal, () => abort(signal)));
    handling.phase = `${name} callback`;
    try {
      const result = (async () => callback({ signal: given.signal }))();
      return await race(name === "claim" ? race(result, { signal: stopping }) : result, {
        signal: ended.signal,
      });
    } finally {
      handling.phase = "request";
      for (const stop of stopListening) stop();
      given.release();
      ended.release();
    }
  }

  /** Ends a claim; with a message, tells the waiting user why. */
  async #giveBack(request: PendingRequest, claim: ControllerClaim, message?: string): Promise<void> {
    // The claim may be another controller's, which only that one may end.
    if (claim.outcome === "unknown") return;
    try {
      if (message !== undefined) await this.#context.claims.fail(claim.id, message);
      else await this.#context.claims.release(claim.id);
    } catch (error) {
      // Either the server has no such endpoint, or there is no live claim. After a failed `fail`, a release covers the
      // first case; after a failed release, there is nothing left to end.
      const isAbsent = hasStatus(error, 404, 405, 501);
      if (isAbsent && message !== undefined) return this.#giveBack(request, claim);
      if (!isAbsent) this.#context.onError(error, request);
    }
  }
}

const claimed = (claim: ControllerClaim) => ({ name: "claimed" as const, claim });

const hasStatus = (error: unknown, ...statuses: number[]): boolean =>
  ApiError.isInstance(error) && statuses.includes(error.status);
