import { ApiPromise, type WithResponse } from "../api-promise.ts";
import { Backoff, race } from "../async.ts";
import {
  anyValue,
  checkObject,
  checkOptions,
  checkRef,
  type OptionTable,
  oneOf,
  orDefault,
  segment,
} from "../check.ts";
import { ArgumentError, isApiError } from "../errors.ts";
import type { Transport } from "../http/transport.ts";
import { type RequestOptions, requestOptions as requestOptionTable } from "../options.ts";
import type { PagePromise } from "../pagination.ts";
import { RunPoller } from "../runs/poller.ts";
import type { StreamSource } from "../runs/reader.ts";
import { RunStream, type RunStreamOptions } from "../runs/stream.ts";
import { type WaitOptions, waitForRun } from "../runs/wait.ts";
import {
  type CreateRunParams,
  type CreateRunRequest,
  isTerminalStatus,
  type Run,
  type RunRef,
  type RunSummary,
  type TerminalRun,
} from "../types.ts";
import { checkParams, toPrompt, withExtra } from "./params.ts";
import { Resource } from "./resource.ts";

/** Where a list of runs begins and how long its pages are. */
export interface ListRunsQuery {
  /** Runs per page, 1 to 100. @default 20 */
  limit?: number | undefined;
  /** Where to begin: a page's `nextCursor`. */
  cursor?: string | undefined;
}

/** The options of a follow-up. */
export interface CreateRunOptions extends RequestOptions {
  /**
   * While the agent works on another run: reject with `agent_busy`, wait for that run to end, or cancel it.
   * A wait lasts as long as the run does; `signal` ends it. The follow-ups that wait for one agent on one client are sent
   * in the order of the calls. It rejects with `agent_busy` where the agent stays busy for two minutes without an active run.
   * @default "throw"
   */
  whenBusy?: "throw" | "wait" | "cancel" | undefined;
  /** Fields that this version doesn't know; the server rejects those that it doesn't know either. */
  extraBody?: Record<string, unknown> | undefined;
}

const createRunOptions = {
  ...requestOptionTable,
  whenBusy: orDefault(oneOf(["throw", "wait", "cancel"]), "throw"),
  extraBody: anyValue,
} satisfies OptionTable<CreateRunOptions>;

const createTimeout = 180_000;
/**
 * The pauses while an agent answers that it is busy although no run is active: it does so for about two seconds after
 * its run has ended.
 */
const busyPauses = { base: 1_000, cap: 15_000, jitter: [1, 1] } as const;
/** After this many milliseconds of being busy without an active run, the follow-up is given up. */
const longestBusyWithoutRun = 2 * 60_000;

/** Runs: one prompt's execution each. */
export class Runs extends Resource {
  readonly #transport: Transport;
  readonly #poller: RunPoller;
  /** By agent: settles when the last follow-up that waits for it is sent or given up. */
  readonly #queues = new Map<string, Promise<void>>();

  /** @internal */
  constructor(transport: Transport) {
    super(transport);
    this.#transport = transport;
    this.#poller = new RunPoller((ref, options) => this.get(ref, options), transport.settings);
  }

  /**
   * Sends a follow-up prompt to an agent; one run at a time.
   *
   * Never sent twice: where no response came although the server may have taken it, it rejects with
   * `outcome: "unknown"`.
   *
   * @throws ApiError `agent_busy` (see `whenBusy`), `agent_archived`, `agent_not_found`, `validation_error`, …
   * @see Create A Run
   * @example
   * const run = await cursor.runs.create(agent.id, { prompt: "Also add tests" }, { whenBusy: "wait" });
   */
  create(agentId: string, params: CreateRunParams, options: CreateRunOptions = {}): ApiPromise<Run> {
    return ApiPromise.of(this.#create(agentId, params, options));
  }

  async #create(
    agentId: string,
    params: CreateRunParams,
    options: CreateRunOptions,
  ): Promise<WithResponse<Run>> {
    const { whenBusy, extraBody, ...requestOptions } = checkOptions(createRunOptions, options);
    segment("agentId", agentId);
    checkParams(params);
    // Copied before any wait, so that later changes of the caller's object are not sent.
    const body = clone(
      withExtra({ ...params, prompt: toPrompt(params.prompt) } as CreateRunRequest, extraBody),
    );
    if (whenBusy === "throw") return this.#post(agentId, body, requestOptions);
    const { signal } = requestOptions;
    // A queue: the waiters of one client for one agent are sent in the order of their calls, and only the first one asks.
    const before = this.#queues.get(agentId) ?? Promise.resolve();
    let leave = () => {};
    const own = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const place = before.then(() => own);
    this.#queues.set(agentId, place);
    try {
      await race(before, { signal });
      return await this.#postWhenFree(agentId, body, whenBusy, requestOptions);
    } finally {
      leave();
      if (this.#queues.get(agentId) === place) this.#queues.delete(agentId);
    }
  }

  /** Posts until the agent takes it. Others may be faster any number of times: only time without a run is limited. */
  async #postWhenFree(
    agentId: string,
    body: CreateRunRequest,
    whenBusy: "wait" | "cancel",
    options: RequestOptions,
  ): Promise<WithResponse<Run>> {
    const { clock, random } = this.#transport.settings;
    const { signal } = options;
    const pauses = new Backoff({ clock, random, ...busyPauses });
    let busySince: number | undefined;
    while (true) {
      try {
        return await this.#post(agentId, body, options);
      } catch (error) {
        if (!isApiError(error, "agent_busy")) throw error;
        if (busySince !== undefined && clock.now() - busySince >= longestBusyWithoutRun) throw error;
      }
      if (await this.#waitForRun(agentId, whenBusy, options)) {
        busySince = undefined;
        pauses.reset();
      } else {
        // Over already: the agent winds down, or another caller's run begins.
        busySince ??= clock.now();
        await pauses.pause(signal);
      }
    }
  }

  /**
   * Waits for the run in the way through Get A Run, so that nothing is posted while it is known to be active.
   * @returns Whether there was one
   */
  async #waitForRun(agentId: string, whenBusy: "wait" | "cancel", options: RequestOptions): Promise<boolean> {
    const { signal } = options;
    const { data: agent } = await this.#transport.run(
      "GET",
      "/v1/agents/{id}",
      () => ({ path: { id: agentId } }),
      { agentId },
      options,
    );
    if (agent.latestRunId === undefined) return false;
    const ref: RunRef = { agentId, id: agent.latestRunId };
    const run = await this.#poller.tryAsk(ref, signal);
    if (run && isTerminalStatus(run.status)) return false;
    if (whenBusy === "cancel") {
      try {
        await this.cancel(ref, options);
      } catch (error) {
        if (!isApiError(error, "run_not_cancellable")) throw error;
      }
    }
    await this.#poller.untilTerminal(ref, { signal });
    return true;
  }

  async #post(agentId: string, body: CreateRunRequest, options: RequestOptions): Promise<WithResponse<Run>> {
    const { data, ...around } = await this.#transport.run(
      "POST",
      "/v1/agents/{id}/runs",
      () => ({ path: { id: agentId }, body }),
      { policy: "unsafe", timeout: createTimeout, agentId, has: ["run"] },
      options,
    );
    return { ...around, data: data.run };
  }

  /**
   * Lists an agent's runs, newest first, page by page. Items have no `result`: {@link Runs.get} loads it.
   * @see List Runs
   */
  list(agentId: string, query?: ListRunsQuery, options?: RequestOptions): PagePromise<RunSummary> {
    return this.pages(
      "/v1/agents/{id}/runs",
      { query, input: () => ({ path: { id: segment("agentId", agentId) } }), agentId },
      options,
    );
  }

  /**
   * Loads a run: its status and, once it is over, its result, duration and branches.
   * @see Get A Run
   */
  get(ref: RunRef, options?: RequestOptions): ApiPromise<Run> {
    return this.call(
      "GET",
      "/v1/agents/{id}/runs/{runId}",
      () => ({ path: pathOf(ref) }),
      { agentId: ref?.agentId, runId: ref?.id },
      options,
    );
  }

  /**
   * Cancels a run, for good; the agent takes further runs. Not repeated when the response is lost.
   * @throws ApiError `run_not_cancellable` when the run is over
   * @see Cancel A Run
   */
  cancel(ref: RunRef, options?: RequestOptions): ApiPromise<{ id: string }> {
    return this.call(
      "POST",
      "/v1/agents/{id}/runs/{runId}/cancel",
      () => ({ path: pathOf(ref) }),
      { policy: "unsafe", agentId: ref?.agentId, runId: ref?.id, empty: { id: ref?.id }, has: ["id"] },
      options,
    );
  }

  /**
   * Streams a run. Sends nothing before it is read; reconnects and resumes by itself; falls back to Get A Run.
   * @throws ArgumentError in this call, before anything is sent
   * @see Stream A Run
   * @example
   * for await (const event of cursor.runs.stream(run)) {
   *   if (event.type === "assistant") process.stdout.write(event.data.text);
   * }
   */
  stream(ref: RunRef, options: RunStreamOptions = {}, requestOptions: RequestOptions = {}): RunStream {
    const checkedRef = checkRef(ref);
    checkObject("options", options);
    const { signal, ...others } = checkOptions(requestOptionTable, requestOptions);
    const merged = signal === undefined || options.signal ? options : { ...options, signal };
    return new RunStream(checkedRef, this.#source(checkedRef, others), merged);
  }

  /**
   * Waits until a run is over, through its stream where there is one. Resolves for every outcome: look at `status`.
   *
   * An outcome that the stream delivered is final: where Get A Run can't be read then, the run has its status, text,
   * duration and branches from the stream, and the other fields (`createdAt`, …) may be missing.
   * @throws RunFailedError with `throwOnFailure`; TimeoutError (phase `deadline`) after `timeout`
   * @example
   * const run = await cursor.runs.wait(ref, { timeout: 30 * 60_000 });
   * if (run.status === "FINISHED") console.log(run.result);
   */
  async wait(ref: RunRef, options: WaitOptions = {}): Promise<TerminalRun> {
    const checkedRef = checkRef(ref);
    return waitForRun(checkedRef, this.#source(checkedRef, {}), options);
  }

  #source(ref: RunRef, options: RequestOptions): StreamSource {
    const { clock, random } = this.#transport.settings;
    const { agentId, id: runId } = ref;
    return {
      poller: this.#poller,
      redactor: this.#transport.redactor,
      clock,
      random,
      open: (lastEventId, signal) =>
        this.#transport.open(
          "/v1/agents/{id}/runs/{runId}/stream",
          () => ({ path: { id: agentId, runId } }),
          { ...options, signal },
          lastEventId,
        ),
    };
  }
}

function clone<Body>(body: Body): Body {
  try {
    return structuredClone(body);
  } catch {
    // The error of structuredClone is no cause to keep: its message quotes what could not be copied.
    throw new ArgumentError("params", "can't be sent as JSON");
  }
}

function pathOf(ref: RunRef): { id: string; runId: string } {
  const { agentId, id } = checkRef(ref);
  return { id: agentId, runId: id };
}
