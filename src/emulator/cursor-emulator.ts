import { addAgent } from "./agents/agent-routes.ts";
import { createAgentBody } from "./agents/agent-schemas.ts";
import { toAgent, toRun } from "./agents/agent-views.ts";
import { toBytes } from "./body-source.ts";
import { checkOptions, content, enforce, name } from "./check-options.ts";
import { type Core, createCore } from "./core.ts";
import { type EmulatorOptions, type ResolvedOptions, resolveOptions } from "./emulator-options.ts";
import { EnvironmentControls, SecretControls } from "./environments/environment-controls.ts";
import type { IncomingRequest, Outcome, RecordedRequest } from "./exchange.ts";
import { Faults } from "./faults.ts";
import { handleRequest } from "./handle-request.ts";
import { Journal } from "./journal.ts";
import { createFetch } from "./mounts/fetch-mount.ts";
import { createHandlers, type MswRequestHandler } from "./mounts/msw-handlers.ts";
import type { EmulatorServer, ListenOptions } from "./mounts/node-listener.ts";
import { routes } from "./router.ts";
import { isPattern, type PromptMatch, type ScriptBuilder } from "./runs/script-book.ts";
import type { Agent, AgentRecord, CreateAgentRequest, Run, RunRecord } from "./store.ts";
import { validate } from "./validate.ts";
import { WorkerControls } from "./workers/worker-controls.ts";

/** The platform's `fetch`. These declarations must compile in projects whose types have no `fetch`, too. */
type WebFetch = typeof globalThis extends { fetch: infer Type }
  ? Type
  : (input: string, init?: { method?: string; signal?: AbortSignal }) => Promise<Response>;

/** One operation that the emulator implements, as in openapi.yaml. */
export interface EmulatorRoute {
  /** HTTP method, in capitals. */
  readonly method: string;
  /** Template, e.g. `/v1/agents/{id}/runs`. */
  readonly path: string;
  /** Its name in openapi.yaml; faults take it as their target. */
  readonly operationId: string;
}

/**
 * An emulator of the Cursor Cloud Agents API. It is as strict as the service and has the same quirks. Runs follow scripts,
 * faults happen on demand, and the clock can be your own. Mount it as a `fetch`, as a server, or as msw handlers; all three
 * share one state.
 *
 * @example
 * const emulator = new CursorEmulator();
 * emulator.script("readme", (run) => run.text("Hel").cut().text("lo").finish());
 * const cursor = new Cursor({ apiKey: "test", baseUrl: emulator.baseUrl, fetch: emulator.fetch });
 */
export class CursorEmulator {
  /** Answers requests to the API and to the artifact storage in memory. Requests to other hosts fail as unknown hosts do. */
  readonly fetch: WebFetch;
  /** Plans faults: failed responses, delays, broken connections. */
  readonly faults = new Faults(routes.map(({ operationId }) => operationId));
  /** Controls workers, pools and the queue of requests for them. */
  readonly workers = new WorkerControls(() => ({
    workers: this.#core.workers,
    ids: this.#core.store.ids,
    members: this.#options.members,
    now: () => this.#core.store.now(),
  }));
  /** Adds builds to environments. */
  readonly environments = new EnvironmentControls(() => this.#core.environments);
  /** Reads and adds secrets. */
  readonly secrets = new SecretControls(() => this.#core);
  readonly #options: ResolvedOptions;
  readonly #journal: Journal;
  #core: Core;

  constructor(options: EmulatorOptions = {}) {
    this.#options = resolveOptions(options);
    this.#journal = new Journal(this.#options.journal);
    this.#core = createCore(this.#options, this.faults);
    this.fetch = createFetch(this.#options, this.#handle);
  }

  /** Base URL of `fetch` and `handlers()`. */
  get baseUrl(): string {
    return this.#options.origin + this.#options.basePath;
  }

  /** The requests received so far, oldest first: as many as the option `journal` allows. */
  get requests(): readonly RecordedRequest[] {
    return this.#journal.requests;
  }

  /** The operations that the emulator implements. */
  get routes(): readonly EmulatorRoute[] {
    return routes.map(({ method, path, operationId }) => ({ method, path, operationId }));
  }

  /** Number of open run streams: 0 when every reader has closed its connection. */
  get connections(): number {
    return this.#core.store.connections;
  }

  /** All agents as Get An Agent returns them, oldest first. */
  get agents(): readonly Agent[] {
    return [...this.#core.store.agents.values()].map((agent) => toAgent(agent, this.#options));
  }

  /** The runs of an agent as Get A Run returns them, oldest first. */
  runs(agentId: string): readonly Run[] {
    const agent = this.#agent(agentId);
    return agent.runs.map((run) => toRun(agent, run));
  }

  /** Serves over HTTP (Node, Bun, Deno): the API on one port, the artifact storage on another. */
  async listen(options: ListenOptions = {}): Promise<EmulatorServer> {
    const { listen } = await import("./mounts/node-listener.ts");
    return listen(this.#handle, options);
  }

  /** Handlers for your own msw 2: `setupServer(...emulator.handlers())`. */
  handlers(): MswRequestHandler[] {
    return createHandlers(this.#options, this.fetch);
  }

  /** Defines what runs with a matching prompt do. The newest script that matches wins; other prompts get a plausible default. */
  script(match: PromptMatch, build: ScriptBuilder): this {
    const isMatch = typeof match === "string" || typeof match === "function" || isPattern(match);
    if (!isMatch)
      throw new TypeError(
        "CursorEmulator: script(match, …): expected a string, a RegExp or a function as match",
      );
    if (typeof build !== "function") {
      throw new TypeError("CursorEmulator: script(…, build): expected a function that writes the script");
    }
    this.#core.scripts.add(match, build);
    return this;
  }

  /** Opens a gate at which scripts `hold`. It stays open until {@link CursorEmulator.reset}. */
  release(gate: string): void {
    this.#core.gates.release(gate);
  }

  /** Creates an agent without a request. The body is validated as Create An Agent validates it. */
  addAgent(body: CreateAgentRequest, options: { owner?: string } = {}): { agent: Agent; run: Run } {
    checkOptions<{ owner?: string }>("CursorEmulator: addAgent", options, { owner: name });
    const { agent, run } = addAgent(this.#core, validate(createAgentBody, body), options.owner ?? "owner");
    return { agent: toAgent(agent, this.#options), run: toRun(agent, run) };
  }

  /** Overrides fields of an agent in all answers; unknown fields and statuses are allowed. */
  setAgent(agentId: string, fields: Partial<Agent> | Record<string, unknown>): void {
    Object.assign(this.#agent(agentId).overrides, fields);
  }

  /** Overrides fields of a run in all answers. Its stream does not change. */
  setRun(runId: string, fields: Partial<Run> | Record<string, unknown>): void {
    Object.assign(this.#run(runId).overrides, fields);
  }

  /** Writes an artifact of an agent. Any path is allowed, even one the service would never return. */
  addArtifact(agentId: string, path: string, bytes: Uint8Array | string, contentType?: string): void {
    enforce(path, name, "CursorEmulator: addArtifact: path");
    enforce(bytes, content, "CursorEmulator: addArtifact: bytes");
    const written = typeof bytes === "string" ? toBytes(bytes) : bytes;
    this.#core.store.addArtifact(this.#agent(agentId), path, written, contentType);
  }

  /** Forgets the recorded requests, and nothing else. */
  forgetRequests(): void {
    this.#journal.clear();
  }

  /** Ends the retention of a run's stream: new connections get 410. Open streams continue. */
  expireStream(runId: string): void {
    this.#run(runId).streamExpired = true;
  }

  /**
   * Forgets everything: agents, workers, environments, secrets, requests, scripts, faults, gates and limits. Open streams
   * end.
   */
  reset(): void {
    this.#core.workers.close();
    for (const agent of [...this.#core.store.agents.values()]) this.#core.store.deleteAgent(agent);
    this.#journal.clear();
    this.faults.clear();
    this.#core = createCore(this.#options, this.faults);
  }

  readonly #handle = (request: IncomingRequest): Promise<Outcome> =>
    handleRequest(this.#core, this.#journal, request);

  #agent(agentId: string): AgentRecord {
    const agent = this.#core.store.agents.get(agentId);
    if (agent === undefined) throw new Error(`CursorEmulator: no agent has the id ${agentId}`);
    return agent;
  }

  #run(runId: string): RunRecord {
    const found = this.#core.store.findRun(runId);
    if (found === undefined) throw new Error(`CursorEmulator: no run has the id ${runId}`);
    return found.run;
  }
}
