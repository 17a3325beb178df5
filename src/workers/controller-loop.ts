import type { Clock } from "../async.ts";
import { ApiError, CursorError } from "../errors.ts";
import { backoff } from "../http/retry.ts";
import type { PendingRequest } from "../types.ts";
import type { Claims } from "./claims.ts";
import type { ControllerClaim, RequestControllerOptions, StartRefusal } from "./controller-options.ts";
import type { RequestChange } from "./queue-view.ts";
import type { QueueHandle } from "./request-queue.ts";
import type { CheckedFilters } from "./requests.ts";

/** What the controller needs of the rest of the client. */
export interface ControllerSource {
  watch(filters: CheckedFilters): Promise<QueueHandle>;
  list(filters: CheckedFilters): AsyncIterable<PendingRequest>;
  claims: Claims;
  clock: Clock;
  random: () => number;
}

const backoffBase = 2_000;
const backoffCap = 60_000;
/**
 * By then a list has said whether a request that should have left the queue has left it, and a worker that was started
 * has had time to connect: it may be listed as offline until then.
 */
const untilListed = 5 * 60_000;

/** What is known here of a request, beyond what the queue says. */
interface Entry {
  id: string;
  isBusy: boolean;
  failures: number;
  /** Set: nothing is done before it fires, whatever the queue says. */
  timer?: unknown;
  /** The request leaving the queue is all there was to wait for. */
  isSettled: boolean;
  /** A claim with an unknown outcome: what it was for. */
  doubt?: { request: PendingRequest; workerId: string } | undefined;
  /** Its worker was started here. */
  isStarted: boolean;
}

/** The work of a {@link RequestController}. */
export class ControllerLoop {
  readonly #options: RequestControllerOptions;
  readonly #source: ControllerSource;
  readonly #filters: CheckedFilters;
  readonly #queue: QueueHandle;
  readonly #entries = new Map<string, Entry>();
  readonly #ready = new Set<Entry>();
  #inHand = new Set<Promise<void>>();
  #isStopped = false;
  #failure: { error: unknown } | undefined;

  constructor(
    options: RequestControllerOptions,
    source: ControllerSource,
    filters: CheckedFilters,
    queue: QueueHandle,
  ) {
    this.#options = options;
    this.#source = source;
    this.#filters = filters;
    this.#queue = queue;
  }

  /** No new claims from here on. */
  stop(): void {
    this.#isStopped = true;
    this.#queue.stop();
    this.#ready.clear();
    for (const { timer } of this.#entries.values()) this.#source.clock.clearTimeout(timer);
  }

  /** Until it is stopped and nothing is in hand; rejects with what ended the watch. */
  async run(): Promise<void> {
    try {
      for await (const change of this.#queue) this.#note(change);
    } catch (error) {
      this.#failure = { error };
      this.stop();
      this.#options.onError?.(error);
    } finally {
      while (this.#inHand.size > 0) await Promise.all(this.#inHand);
    }
    if (this.#failure) throw this.#failure.error;
  }

  #note({ type, id, reason }: RequestChange): void {
    let entry = this.#entries.get(id);
    if (type === "removed") {
      if (!entry) return;
      this.#ready.delete(entry);
      if (!entry.isBusy && (entry.timer === undefined || entry.isSettled)) this.#forget(entry);
      return;
    }
    if (!entry) {
      entry = { id, isBusy: false, failures: 0, isSettled: false, isStarted: false };
      this.#entries.set(id, entry);
    }
    // A worker was started here and is offline, or its claim has ended: a new matter. A list may just be early.
    if (entry.isStarted && (reason === "claimed_offline" || reason === "created")) this.#wake(entry);
    if (entry.timer === undefined && !entry.isBusy) this.#ready.add(entry);
    this.#fill();
  }

  #forget(entry: Entry): void {
    this.#wake(entry);
    this.#entries.delete(entry.id);
  }

  #wake(entry: Entry): void {
    this.#source.clock.clearTimeout(entry.timer);
    entry.timer = undefined;
  }

  /** Takes requests in hand while there is room. */
  #fill(): void {
    for (const entry of this.#ready) {
      if (this.#isStopped || this.#inHand.size >= this.#options.concurrency) return;
      this.#ready.delete(entry);
      entry.isBusy = true;
      const work: Promise<void> = this.#handle(entry)
        .catch((error: unknown) => {
          // Only a callback for errors that itself fails comes here.
          this.#failure ??= { error };
          this.stop();
        })
        .then(() => {
          entry.isBusy = false;
          this.#inHand.delete(work);
          this.#fill();
        });
      this.#inHand.add(work);
    }
  }

  /** Sets an entry aside: for so long, or until it leaves the queue if that is all there is to wait for. */
  #setAside(entry: Entry, ms: number, isSettled: boolean): void {
    entry.isSettled = isSettled;
    if (this.#isStopped) return;
    if (isSettled && !this.#queue.requests.has(entry.id)) return void this.#entries.delete(entry.id);
    entry.timer = this.#source.clock.setTimeout(() => {
      entry.timer = undefined;
      if (!this.#queue.requests.has(entry.id) && entry.doubt === undefined) this.#entries.delete(entry.id);
      else this.#ready.add(entry);
      this.#fill();
    }, ms);
  }

  #tryLater(entry: Entry): void {
    const { random } = this.#source;
    const ms = backoff(entry.failures++, backoffBase, backoffCap, () => (1 + random()) / 2);
    this.#setAside(entry, ms, false);
  }

  async #handle(entry: Entry): Promise<void> {
    const request = entry.doubt?.request ?? this.#queue.requests.get(entry.id);
    if (!request) return void this.#entries.delete(entry.id);
    entry.isStarted = false;
    try {
      const claim = await (entry.doubt ? this.#lookUp(entry, entry.doubt) : this.#claim(entry, request));
      if (claim === "declined") this.#tryLater(entry);
      else if (claim === "lost") this.#setAside(entry, untilListed, true);
      else await this.#start(entry, request, claim);
    } catch (error) {
      this.#options.onError?.(error, request);
      this.#tryLater(entry);
    }
  }

  async #claim(entry: Entry, request: PendingRequest): Promise<ControllerClaim | "declined" | "lost"> {
    const { id, claimedWorkerId } = request;
    if (claimedWorkerId !== undefined) return { id, workerId: claimedWorkerId, revived: true };
    const workerId = await this.#options.claim(request);
    if (workerId === undefined || workerId === null || this.#isStopped) return "declined";
    try {
      return await this.#source.claims.create({ id, workerId });
    } catch (error) {
      if (hasStatus(error, 404, 409)) return "lost";
      if (!CursorError.isInstance(error) || error.outcome !== "unknown") throw error;
      this.#options.onError?.(error, request);
      entry.doubt = { request, workerId };
      return this.#lookUp(entry, entry.doubt);
    }
  }

  /** The answer to a claim was lost: the list knows whether it was heard. If it can't be read, it is asked later. */
  async #lookUp(
    entry: Entry,
    { request: { id }, workerId }: { request: PendingRequest; workerId: string },
  ): Promise<ControllerClaim | "lost"> {
    const listed = await this.#find(id);
    let isGone = false;
    if (listed && listed.claimedWorkerId === undefined) {
      // Nobody's: it was not heard. Once more for the same worker, in case it is heard late and this one refused.
      try {
        const claim = await this.#source.claims.create({ id, workerId });
        entry.doubt = undefined;
        return claim;
      } catch (error) {
        if (!hasStatus(error, 404, 409)) throw error;
        if (hasStatus(error, 404)) isGone = true;
      }
    }
    entry.doubt = undefined;
    if (isGone) return "lost";
    if (listed?.claimedWorkerId === workerId) return { id, workerId };
    return listed?.claimedWorkerId !== undefined ? "lost" : { id, workerId, outcome: "unknown" };
  }

  async #find(id: string): Promise<PendingRequest | undefined> {
    for await (const request of this.#source.list(this.#filters)) if (request.id === id) return request;
    return undefined;
  }

  async #start(entry: Entry, request: PendingRequest, claim: ControllerClaim): Promise<void> {
    let refusal: undefined | StartRefusal;
    try {
      refusal = (await this.#options.start(request, claim)) ?? undefined;
    } catch (error) {
      this.#options.onError?.(error, request);
      await this.#giveBack(request, claim);
      return this.#tryLater(entry);
    }
    entry.failures = 0;
    entry.isStarted = true;
    if (refusal?.fail !== undefined) await this.#giveBack(request, claim, refusal.fail);
    this.#setAside(entry, untilListed + (request.wakeTimeoutMs ?? 0), false);
  }

  async #giveBack(request: PendingRequest, claim: ControllerClaim, message?: string): Promise<void> {
    // A claim that may be another's is not ours to end.
    if (claim.outcome === "unknown") return;
    try {
      if (message !== undefined) await this.#source.claims.fail(claim.id, message);
      else await this.#source.claims.release(claim.id);
    } catch (error) {
      // Without such an endpoint, or without a live claim: a release tells which, and the latter is what was wanted.
      const isAbsent = hasStatus(error, 404, 405, 501);
      if (isAbsent && message !== undefined) return this.#giveBack(request, claim);
      if (!isAbsent) this.#options.onError?.(error, request);
    }
  }
}

const hasStatus = (error: unknown, ...statuses: number[]): boolean =>
  ApiError.isInstance(error) && statuses.includes(error.status);
