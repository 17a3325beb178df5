import { ApiError, CursorError } from "../errors.ts";
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

/** What the handling of a request needs of its controller. */
export interface RequestHandlerContext {
  claims: Claims;
  /** All pending requests of the controller's filters. */
  list(): AsyncIterable<PendingRequest>;
  isStopped(): boolean;
  claim(request: PendingRequest): string | undefined | Promise<string | undefined>;
  start(request: PendingRequest, claim: ControllerClaim): void | StartRefusal | Promise<void | StartRefusal>;
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
  async handle(request: PendingRequest, knownDoubt: Doubt | undefined): Promise<HandlingOutcome> {
    let doubt = knownDoubt;
    try {
      let outcome: ClaimOutcome = doubt ?? (await this.#claim(request));
      if (outcome.name === "in doubt") {
        doubt = outcome;
        outcome = await this.#lookUp(doubt);
        doubt = undefined;
      }
      if (outcome.name !== "claimed") return outcome;
      return await this.#start(request, outcome.claim);
    } catch (error) {
      this.#context.onError(error, request);
      return { name: "failed", doubt };
    }
  }

  async #claim(request: PendingRequest): Promise<ClaimOutcome> {
    const { id, claimedWorkerId } = request;
    if (claimedWorkerId !== undefined) return claimed({ id, workerId: claimedWorkerId, revived: true });
    const workerId = await this.#context.claim(request);
    if (workerId === undefined || workerId === null || this.#context.isStopped()) return { name: "declined" };
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

  async #start(request: PendingRequest, claim: ControllerClaim): Promise<HandlingOutcome> {
    let result: undefined | StartRefusal;
    try {
      result = (await this.#context.start(request, claim)) ?? undefined;
    } catch (error) {
      this.#context.onError(error, request);
      await this.#giveBack(request, claim);
      return { name: "failed" };
    }
    if (result?.fail !== undefined) await this.#giveBack(request, claim, result.fail);
    return { name: "started" };
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
