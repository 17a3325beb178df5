import { addAgent } from "./agent-routes.ts";
import { toBytes } from "./body-source.ts";
import type { Core } from "./core-context.ts";
import { EnvironmentControls, SecretControls } from "./environments/environment-controls.ts";
import { EnvironmentStore } from "./environments/environment-store.ts";
import { SecretStore } from "./environments/secret-store.ts";
import type { IncomingRequest, Outcome } from "./exchange.ts";
import { Faults } from "./faults.ts";
import { createFetch } from "./fetch-mount.ts";
import { Fleet } from "./fleet/fleet.ts";
import { FleetControls } from "./fleet/fleet-controls.ts";
import { Gates } from "./gates.ts";
import { Limits } from "./limits.ts";
import { createHandlers, type MswRequestHandler } from "./msw-handlers.ts";
import type { EmulatorServer, ListenOptions } from "./node-listener.ts";
import { type EmulatorOptions, type ResolvedOptions, resolveOptions } from "./options.ts";
import { handleRequest } from "./pipeline.ts";
import type { MutableRecord, RecordedRequest } from "./recorder.ts";
import { routes } from "./router.ts";
import { createAgentBody } from "./schemas.ts";
import { type PromptMatch, ScriptBook, type ScriptBuilder } from "./script-book.ts";
import { type AgentRecord, type RunRecord, Store } from "./store.ts";
import type { Agent, CreateAgentRequest, Run } from "./types.ts";
import { validate } from "./validation.ts";
import { toAgent, toRun } from "./views.ts";

/** The platform's `fetch`; a project whose types know none must compile with these declarations, too. */
type WebFetch = typeof globalThis extends { fetch: infer Type }
  ? Type
  : (input: string, init?: { method?: string; signal?: AbortSignal }) => Promise<Response>;

/** One operation the emulator knows, as in openapi.yaml. */
export interface EmulatorRoute {
  /** HTTP method, in capitals. */
  readonly method: string;
  /** Template, e.g. `/v1/agents/{id}/runs`. */
  readonly path: string;
  /** Its name in openapi.yaml, which faults take. */
  readonly operationId: string;
}

/**
 * The Cursor Cloud Agents API, emulated: as strict and as odd as the service, with runs that follow scripts, faults on
 * demand and a clock of your own. Mount it as a `fetch`, as a server, or as msw handlers; all three share one state.
 *
 * @example
 * const emulator = new CursorEmulator();
 * emulator.script("readme", (run) => run.text("Hel").cut().text("lo").finish());
 * const cursor = new Cursor({ apiKey: "test", baseUrl: emulator.baseUrl, fetch: emulator.fetch });
 */
export class CursorEmulator {
  /** Answers requests to the API and to the artifact storage in memory; other hosts do not exist. */
  readonly fetch: WebFetch;
  /** Trouble on demand. */
  readonly faults = new Faults(routes.map(({ operationId }) => operationId));
  /** Workers, pools and their queue. */
  readonly fleet = new FleetControls(() => ({
    fleet: this.#core.fleet,
    ids: this.#core.store.ids,
    members: this.#options.members,
    now: () => this.#core.store.now(),
  }));
  /** Builds of environments. */
  readonly environments = new EnvironmentControls(() => this.#core.environments);
  /** Stored secrets. */
  readonly secrets = new SecretControls(() => this.#core);
  readonly #options: ResolvedOptions;
  readonly #gates = new Gates();
  readonly #scripts = new ScriptBook();
  readonly #limits: Limits;
  readonly #requests: MutableRecord[] = [];
  #core: Core;

  constructor(options: EmulatorOptions = {}) {
    this.#options = resolveOptions(options);
    this.#limits = new Limits(this.#options.clock);
    this.#core = this.#createCore();
    this.fetch = createFetch(this.#options, this.#handle);
  }

  /** Base URL of `fetch` and `handlers()`. */
  get baseUrl(): string {
    return this.#options.origin + this.#options.basePath;
  }

  /** All requests so far, oldest first. */
  get requests(): readonly RecordedRequest[] {
    return this.#requests;
  }

  /** The operations that are emulated. */
  get routes(): readonly EmulatorRoute[] {
    return routes.map(({ method, path, operationId }) => ({ method, path, operationId }));
  }

  /** Run streams that are open now: 0 when no reader was left behind. */
  get connections(): number {
    return this.#core.store.connections;
  }

  /** All agents as Get An Agent tells them, oldest first. */
  get agents(): readonly Agent[] {
    return [...this.#core.store.agents.values()].map((agent) => toAgent(agent, this.#options));
  }

  /** The runs of an agent as Get A Run tells them, oldest first. */
  runs(agentId: string): readonly Run[] {
    const agent = this.#agent(agentId);
    return agent.runs.map((run) => toRun(agent, run));
  }

  /** Serves over HTTP (Node, Bun, Deno): the API on one port, the artifact storage on another. */
  async listen(options: ListenOptions = {}): Promise<EmulatorServer> {
    const { listen } = await import("./node-listener.ts");
    return listen(this.#handle, options);
  }

  /** Handlers for your own msw 2: `setupServer(...emulator.handlers())`. */
  handlers(): MswRequestHandler[] {
    return createHandlers(this.#options, this.fetch);
  }

  /** What runs with such a prompt do; the newest script that matches wins. Prompts without one get a believable default. */
  script(match: PromptMatch, build: ScriptBuilder): this {
    const isMatch = typeof match === "string" || typeof match === "function" || match instanceof RegExp;
    if (!isMatch) throw new TypeError("CursorEmulator: script(match, …) takes a text, a pattern or a test");
    if (typeof build !== "function") {
      throw new TypeError("CursorEmulator: script(…, build) takes a function that writes the script");
    }
    this.#scripts.add(match, build);
    return this;
  }

  /** Opens a gate that scripts `hold` at, for good. */
  release(gate: string): void {
    this.#gates.release(gate);
  }

  /** Makes an agent without a request; its body is checked as Create An Agent checks it. */
  addAgent(body: CreateAgentRequest, options: { owner?: string } = {}): { agent: Agent; run: Run } {
    const { agent, run } = addAgent(this.#core, validate(createAgentBody, body), options.owner ?? "owner");
    return { agent: toAgent(agent, this.#options), run: toRun(agent, run) };
  }

  /** Lays fields over what the API says of an agent, unknown fields and statuses included. */
  setAgent(agentId: string, fields: Partial<Agent> | Record<string, unknown>): void {
    Object.assign(this.#agent(agentId).overrides, fields);
  }

  /** Lays fields over what the API says of a run. Its stream goes on as it is. */
  setRun(runId: string, fields: Partial<Run> | Record<string, unknown>): void {
    Object.assign(this.#run(runId).overrides, fields);
  }

  /** Writes a file of an agent; any path, also ones the service would not give. */
  addArtifact(agentId: string, path: string, bytes: Uint8Array | string, contentType?: string): void {
    const content = typeof bytes === "string" ? toBytes(bytes) : bytes;
    this.#core.store.addArtifact(this.#agent(agentId), path, content, contentType);
  }

  /** Ends the retention of a run's stream: 410 from now on. Open streams go on. */
  expireStream(runId: string): void {
    this.#run(runId).streamExpired = true;
  }

  /** Forgets agents, the fleet, environments, secrets, requests, scripts, faults, gates and limits; open streams end. */
  reset(): void {
    this.#core.fleet.close();
    for (const agent of [...this.#core.store.agents.values()]) this.#core.store.deleteAgent(agent);
    this.#requests.length = 0;
    this.#scripts.clear();
    this.faults.clear();
    this.#gates.reset();
    this.#limits.clear();
    this.#core = this.#createCore();
  }

  readonly #handle = (request: IncomingRequest): Promise<Outcome> =>
    handleRequest(this.#core, this.#requests, request);

  #createCore(): Core {
    const { clock } = this.#options;
    const store = new Store(clock);
    return {
      options: this.#options,
      store,
      gates: this.#gates,
      faults: this.faults,
      scripts: this.#scripts,
      limits: this.#limits,
      fleet: new Fleet(clock, { pools: this.#options.pools, repoUrls: this.#options.fleet.repoUrls }),
      environments: new EnvironmentStore(store),
      secrets: new SecretStore(store),
      sleep: (ms) => (ms > 0 ? new Promise((resolve) => clock.setTimeout(resolve, ms)) : Promise.resolve()),
    };
  }

  #agent(agentId: string): AgentRecord {
    const agent = this.#core.store.agents.get(agentId);
    if (agent === undefined) throw new Error(`CursorEmulator: there is no agent ${agentId}`);
    return agent;
  }

  #run(runId: string): RunRecord {
    const found = this.#core.store.findRun(runId);
    if (found === undefined) throw new Error(`CursorEmulator: there is no run ${runId}`);
    return found.run;
  }
}
