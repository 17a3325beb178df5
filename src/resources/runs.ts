import { ApiPromise, type WithResponse } from "../api-promise.ts";
import { sleep } from "../async.ts";
import { checkOptions, checkSignal, oneOf, segment } from "../check.ts";
import { ArgumentError, isApiError } from "../errors.ts";
import type { Transport } from "../http/transport.ts";
import { lazy } from "../lazy.ts";
import { type RequestOptions, requestOptions as requestOptionTable } from "../options.ts";
import type { PagePromise } from "../pagination.ts";
import { LazyRunStream } from "../runs/lazy-run-stream.ts";
import type { RunPoller } from "../runs/poller.ts";
import type { StreamSource } from "../runs/reader.ts";
import type { RunStream } from "../runs/stream.ts";
import type { RunStreamOptions } from "../runs/stream-options.ts";
import type { WaitOptions } from "../runs/wait.ts";
import {
  type CreateRunParams,
  type CreateRunRequest,
  isTerminalStatus,
  type Run,
  type RunRef,
  type RunSummary,
  type TerminalRun,
} from "../types.ts";
import { listPages } from "./list.ts";
import { checkParams, checkRef, toPrompt, withExtra } from "./params.ts";

/** Where a list of runs begins and how long its pages are. */
export interface ListRunsQuery {
  /** Runs per page, 1 to 100. @default 20 */
  limit?: number | undefined;
  /** Where to begin: a page's `nextCursor`. */
  cursor?: string | undefined;
}

/** What can be said for a follow-up beside {@link RequestOptions}. */
export interface CreateRunOptions extends RequestOptions {
  /**
   * When the agent still works on another run: reject with `agent_busy`, wait for that run to end, or cancel it.
   * A wait lasts as long as the run does; `signal` ends it.
   * @default "throw"
   */
  whenBusy?: "throw" | "wait" | "cancel" | undefined;
  /** Fields that this version doesn't know; the server refuses those that it doesn't know either. */
  extraBody?: Record<string, unknown> | undefined;
}

const loadPolling = lazy("following runs", () => import("../runs/poller.ts"));
const loadUntilFree = lazy("busy agents", () => import("./runs.ts"));
const loadWait = lazy("waiting", () => import("../runs/wait.ts"));
const createTimeout = 180_000;
/** So often a follow-up may lose the race for a free agent before it gives up. */
const busyRounds = 10;

/** Runs: one prompt's execution each. */
export class Runs {
  readonly #transport: Transport;
  #poller: RunPoller | undefined;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Sends a follow-up prompt to an agent; one run at a time.
   *
   * Never sent twice: where the server may have taken it although no answer came, it rejects with `outcome: "unknown"`.
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
    const { whenBusy = "throw", extraBody, ...requestOptions } = options ?? {};
    oneOf(["throw", "wait", "cancel"])("whenBusy", whenBusy);
    segment("agentId", agentId);
    checkParams(params);
    // Taken once, before any wait: what is sent is what was given.
    const body = clone(
      withExtra({ ...params, prompt: toPrompt(params.prompt) } as CreateRunRequest, extraBody),
    );
    for (let round = 1; ; round++) {
      try {
        return await this.#post(agentId, body, requestOptions);
      } catch (error) {
        if (whenBusy === "throw" || round >= busyRounds || !isApiError(error, "agent_busy")) throw error;
      }
      const { untilFree } = await loadUntilFree();
      await untilFree(this.#transport, this, await this.#loadPoller(), agentId, whenBusy, requestOptions);
    }
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
    return listPages(
      this.#transport,
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
    return this.#transport.call(
      "GET",
      "/v1/agents/{id}/runs/{runId}",
      () => ({ path: pathOf(ref) }),
      { agentId: ref?.agentId, runId: ref?.id },
      options,
    );
  }

  /**
   * Cancels a run, for good; the agent takes further runs. Not repeated when its answer is lost.
   * @throws ApiError `run_not_cancellable` when the run is over
   * @see Cancel A Run
   */
  cancel(ref: RunRef, options?: RequestOptions): ApiPromise<{ id: string }> {
    return this.#transport.call(
      "POST",
      "/v1/agents/{id}/runs/{runId}/cancel",
      () => ({ path: pathOf(ref) }),
      { policy: "unsafe", agentId: ref?.agentId, runId: ref?.id, empty: { id: ref?.id }, has: ["id"] },
      options,
    );
  }

  /**
   * Streams a run. Sends nothing before it is read; reconnects and resumes by itself; falls back to Get A Run.
   * @throws ArgumentError at once
   * @see Stream A Run
   * @example
   * for await (const event of cursor.runs.stream(run)) {
   *   if (event.type === "assistant") process.stdout.write(event.data.text);
   * }
   */
  stream(ref: RunRef, options: RunStreamOptions = {}, requestOptions: RequestOptions = {}): RunStream {
    const checked = checkRef(ref);
    const { signal, ...others } = checkOptions(requestOptionTable, requestOptions);
    const merged = signal === undefined || options?.signal ? options : { ...options, signal };
    return new LazyRunStream(checked, () => this.#source(checked, others), merged);
  }

  /**
   * Waits until a run is over, through its stream where there is one. Resolves for every ending: look at `status`.
   * @throws RunFailedError with `throwOnFailure`; TimeoutError (phase `deadline`) after `timeout`
   * @example
   * const run = await cursor.runs.wait(ref, { timeout: 30 * 60_000 });
   * if (run.status === "FINISHED") console.log(run.result);
   */
  async wait(ref: RunRef, options: WaitOptions = {}): Promise<TerminalRun> {
    const checked = checkRef(ref);
    const { waitForRun } = await loadWait();
    return waitForRun(checked, await this.#source(checked, {}), options ?? {});
  }

  async #loadPoller(): Promise<RunPoller> {
    const { RunPoller } = await loadPolling();
    this.#poller ??= new RunPoller((ref, options) => this.get(ref, options), this.#transport.settings);
    return this.#poller;
  }

  async #source(ref: RunRef, options: RequestOptions): Promise<StreamSource> {
    const { clock, random } = this.#transport.settings;
    return {
      poller: await this.#loadPoller(),
      redactor: this.#transport.redactor,
      clock,
      random,
      open: (lastEventId, signal) =>
        this.#transport.open(
          "/v1/agents/{id}/runs/{runId}/stream",
          () => ({ path: pathOf(ref) }),
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
    // What it says quotes what it could not copy.
    throw new ArgumentError("params", "can't be sent as JSON");
  }
}

function pathOf(ref: RunRef): { id: string; runId: string } {
  const { agentId, id } = checkRef(ref);
  return { id: agentId, runId: id };
}

/** An agent may say that it is busy for about two seconds after its run has ended. */
const windDown = 1_000;

/** Until the run in the way is over: watched through Get A Run, so that nothing is posted while one is known to be active. */
export async function untilFree(
  transport: Transport,
  runs: Runs,
  poller: RunPoller,
  agentId: string,
  whenBusy: "wait" | "cancel",
  options: RequestOptions,
): Promise<void> {
  const signal = checkSignal("signal", options.signal);
  const { data: agent } = await transport.run(
    "GET",
    "/v1/agents/{id}",
    () => ({ path: { id: agentId } }),
    { agentId },
    options,
  );
  const { clock } = transport.settings;
  if (agent.latestRunId === undefined) return sleep(clock, windDown, signal);
  const ref: RunRef = { agentId, id: agent.latestRunId };
  const run = await poller.askPatiently(ref, signal);
  // Over already: the agent is winding down, or someone else's run begins.
  if (run && isTerminalStatus(run.status)) return sleep(clock, windDown, signal);
  if (whenBusy === "cancel") {
    try {
      await runs.cancel(ref, options);
    } catch (error) {
      if (!isApiError(error, "run_not_cancellable")) throw error;
    }
  }
  await poller.untilTerminal(ref, { signal });
}
