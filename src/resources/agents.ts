import { randomUuid } from "../agent-id.ts";
import { ApiPromise, type WithResponse } from "../api-promise.ts";
import { checkCallback, checkSignal, oneOf } from "../check.ts";
import { CursorError, isApiError } from "../errors.ts";
import type { CallSpec } from "../http/transport.ts";
import type { RequestOptions } from "../options.ts";
import type { PagePromise } from "../pagination.ts";
import type { Agent, AgentSummary, CreateAgentParams, CreateAgentRequest, Run } from "../types.ts";
import { checkExclusions, checkParams, deletion, toPrompt, withExtra } from "./params.ts";
import { byId, Resource } from "./resource.ts";

/** Filters of {@link Agents.list}. */
export interface ListAgentsQuery {
  /** Agents per page, 1 to 100. @default 20 */
  limit?: number | undefined;
  /** Where to start: a page's `nextCursor`. */
  cursor?: string | undefined;
  /** Only agents that work on this pull request. */
  prUrl?: string | undefined;
  /** @default true */
  includeArchived?: boolean | undefined;
}

/** {@link RequestOptions}, and how a create treats an existing agent and unknown fields. */
export interface CreateAgentOptions extends RequestOptions {
  /**
   * When an agent with the given `agentId` already exists: reject with `agent_id_conflict`, or return the existing one.
   * @default "throw"
   */
  onConflict?: "throw" | "adopt" | undefined;
  /**
   * Called once, before the request is sent, with the id that the agent will have: so an abort leaves a known id. Not
   * called with `envVars`, beside which no id can be sent.
   */
  onAgentId?: ((agentId: string) => void) | undefined;
  /** Fields that this version doesn't know; the server rejects those that it doesn't know either. */
  extraBody?: Record<string, unknown> | undefined;
}

/** A new agent with its first run. */
export interface CreatedAgent {
  /** The agent. */
  agent: Agent;
  /** Its first run; of an adopted agent, its latest. */
  run: Run;
  /** The agent existed before, and `onConflict: "adopt"` returned it with its latest run. */
  adopted?: true;
}

/** An answer that holds only the agent's id. */
export interface AgentId {
  /** The agent's id. */
  id: string;
}

const createTimeout = 180_000;

/** Agents: one durable conversation and workspace each. */
export class Agents extends Resource {
  /**
   * Creates an agent and starts its first run. The server may take a minute to answer.
   *
   * Never creates two agents: without `envVars` each call carries an id (yours, or one made here) that the server accepts
   * once, so a create whose answer was lost is repeated and returns the agent it created. With `envVars` no id can be
   * sent: a lost answer rejects with `outcome: "unknown"`.
   *
   * @throws ArgumentError before anything is sent; ApiError (`validation_error`, `invalid_model`, `plan_required`,
   *   `agent_id_conflict`, …); ConnectionError and TimeoutError with `outcome: "unknown"`, and `agentId` where one was sent
   * @see Create An Agent
   * @example
   * const { agent, run } = await cursor.agents.create({
   *   prompt: "Add a README",
   *   repos: [{ url: "https://github.com/your-org/your-repo" }],
   * });
   */
  create(params: CreateAgentParams, options: CreateAgentOptions = {}): ApiPromise<CreatedAgent> {
    return ApiPromise.of(this.#create(params, options));
  }

  async #create(params: CreateAgentParams, options: CreateAgentOptions): Promise<WithResponse<CreatedAgent>> {
    checkParams(params, "name");
    const { onConflict = "throw", onAgentId, extraBody, ...requestOptions } = options ?? {};
    oneOf(["throw", "adopt"])("onConflict", onConflict);
    checkCallback("onAgentId", onAgentId);
    checkExclusions(params);
    const isMinted = params.agentId === undefined && params.envVars === undefined;
    const agentId = isMinted ? `bc-${randomUuid()}` : params.agentId;
    const fields = {
      ...params,
      prompt: toPrompt(params.prompt),
      ...(agentId === undefined ? {} : { agentId }),
    };
    const body = withExtra(fields as CreateAgentRequest, extraBody);

    const spec: CallSpec<{ agent: Agent; run: Run }> = {
      policy: agentId === undefined ? "unsafe" : "guarded",
      timeout: createTimeout,
      has: ["agent", "run"],
      agentId,
    };
    checkSignal("signal", requestOptions.signal)?.throwIfAborted();
    if (agentId !== undefined) onAgentId?.(agentId);
    try {
      return await this.transport().run("POST", "/v1/agents", () => ({ body }), spec, requestOptions);
    } catch (error) {
      if (agentId === undefined || !isApiError(error, "agent_id_conflict")) throw error;
      // The id was made for this call, so an earlier attempt of it has created the agent.
      if (isMinted) return this.#existing(agentId, requestOptions);
      if (onConflict === "adopt") {
        const existing = await this.#existing(agentId, requestOptions);
        return { ...existing, data: { ...existing.data, adopted: true } };
      }
      throw error;
    }
  }

  /** The existing agent of a conflict, with its latest run. If they can't be read, the outcome stays unknown. */
  async #existing(
    agentId: string,
    options: RequestOptions,
  ): Promise<WithResponse<{ agent: Agent; run: Run }>> {
    try {
      const { data: agent, ...around } = await this.get(agentId, options).withResponse();
      const run = await this.#latestRun(agent, options);
      return { ...around, data: { agent, run } };
    } catch (error) {
      if (!CursorError.isInstance(error)) throw error;
      error.agentId = agentId;
      error.outcome = "unknown";
      throw error;
    }
  }

  async #latestRun(agent: Agent, options: RequestOptions): Promise<Run> {
    const { id, latestRunId } = agent;
    if (latestRunId === undefined) {
      throw new CursorError(`agent ${id} exists but names no run yet`, { agentId: id });
    }
    const { data } = await this.transport().run(
      "GET",
      "/v1/agents/{id}/runs/{runId}",
      () => ({ path: { id, runId: latestRunId } }),
      { agentId: id, runId: latestRunId },
      options,
    );
    return data;
  }

  /**
   * Lists agents, most recently changed first, page by page. Items hold the agent's identity; {@link Agents.get} loads the rest.
   * @see List Agents
   * @example
   * for await (const agent of cursor.agents.list({ includeArchived: false })) console.log(agent.name);
   */
  list(query?: ListAgentsQuery, options?: RequestOptions): PagePromise<AgentSummary> {
    return this.pages("/v1/agents", { query }, options);
  }

  /**
   * Loads an agent. Its `status` is about the agent's machine; load the run `latestRunId` to learn whether a run is active.
   * @see Get An Agent
   */
  get(agentId: string, options?: RequestOptions): ApiPromise<Agent> {
    return this.call("GET", "/v1/agents/{id}", byId("agentId", agentId), { agentId }, options);
  }

  /**
   * Archives an agent: it stays readable and accepts no more runs until it is unarchived. Harmless if it already is.
   * @see Archive An Agent
   */
  archive(agentId: string, options?: RequestOptions): ApiPromise<AgentId> {
    return this.call(
      "POST",
      "/v1/agents/{id}/archive",
      byId("agentId", agentId),
      { agentId, empty: { id: agentId }, has: ["id"] },
      options,
    );
  }

  /**
   * Lets an archived agent accept runs again. Harmless if it already does.
   * @see Unarchive An Agent
   */
  unarchive(agentId: string, options?: RequestOptions): ApiPromise<AgentId> {
    return this.call(
      "POST",
      "/v1/agents/{id}/unarchive",
      byId("agentId", agentId),
      { agentId, empty: { id: agentId }, has: ["id"] },
      options,
    );
  }

  /**
   * Deletes an agent permanently. {@link Agents.archive} is the reversible way.
   * @see Delete An Agent Permanently
   */
  delete(agentId: string, options?: RequestOptions): ApiPromise<AgentId> {
    return this.call(
      "DELETE",
      "/v1/agents/{id}",
      byId("agentId", agentId),
      { agentId, ...deletion({ id: agentId }) },
      options,
    );
  }
}
