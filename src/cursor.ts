import type { ApiPromise } from "./api-promise.ts";
import { Transport } from "./http/transport.ts";
import { loadParts } from "./lazy.ts";
import { type CursorOptions, type RequestOptions, resolveOptions } from "./options.ts";
import { getApiKeyInfo, Models, Repositories, UsageResource, WorkerTokens } from "./resources/account.ts";
import { Agents } from "./resources/agents.ts";
import { Artifacts } from "./resources/artifacts.ts";
import { Environments } from "./resources/environments.ts";
import { type PromptOptions, type PromptResult, promptAgent } from "./resources/prompt.ts";
import { Runs } from "./resources/runs.ts";
import { Secrets } from "./resources/secrets.ts";
import { Workers } from "./resources/workers.ts";
import type { ApiKeyInfo, CreateAgentParams, Prompt } from "./types.ts";

/** Keys are far longer. */
const shortestKey = 16;

/**
 * A client of the Cursor Cloud Agents API v1.
 *
 * @throws ArgumentError when an option can't work; nothing is sent
 * @example
 * const cursor = new Cursor({ apiKey: process.env.CURSOR_API_KEY });
 * const { agent, run } = await cursor.agents.create({ prompt: "Add a README" });
 * for await (const text of cursor.runs.stream(run).text()) process.stdout.write(text);
 */
export class Cursor {
  /** Agents: create, look at, archive, delete. */
  readonly agents: Agents;
  /** Runs: follow up, stream, wait for, cancel. */
  readonly runs: Runs;
  /** Files that agents left: list, download. */
  readonly artifacts: Artifacts;
  /** Tokens used. */
  readonly usage: UsageResource;
  /** Models to choose from. */
  readonly models: Models;
  /** Repositories that agents can work on. */
  readonly repositories: Repositories;
  /** Tokens for workers that run as a team member. */
  readonly workerTokens: WorkerTokens;
  /** Self-hosted workers: their pools, the requests that wait for them, claims. */
  readonly workers: Workers;
  /** Named cloud environments and their builds (newer). */
  readonly environments: Environments;
  /** Stored secrets (newer). */
  readonly secrets: Secrets;
  readonly #transport: Transport;

  constructor(options: CursorOptions = {}) {
    const transport = new Transport(resolveOptions(options));
    this.#transport = transport;
    if (options?.clock) loadParts();
    this.agents = new Agents(transport);
    this.runs = new Runs(transport);
    this.artifacts = new Artifacts(transport);
    this.usage = new UsageResource(transport);
    this.models = new Models(transport);
    this.repositories = new Repositories(transport);
    this.workerTokens = new WorkerTokens(transport);
    this.workers = new Workers(transport);
    this.environments = new Environments(transport);
    this.secrets = new Secrets(transport);
  }

  /**
   * A text without this client's keys, in whatever form they are in it: for what goes where a key must not. Other
   * secrets stay, and so do keys under 16 characters, which could be words of the text.
   */
  redact(text: string): string {
    return this.#transport.redactor.text(text, shortestKey);
  }

  /**
   * Whose key this is: a user's, with name and address, or a service account's.
   * @see API Key Info
   */
  me(options?: RequestOptions): ApiPromise<ApiKeyInfo> {
    return getApiKeyInfo(this.#transport, options);
  }

  /**
   * One prompt, start to end: creates an agent, streams its run, resolves with the outcome, whatever it is.
   * @throws what `agents.create` and `runs.stream` throw; from the create on, errors carry `agentId` and `runId`
   * @example
   * const { result } = await cursor.prompt("Explain this repository", { repos: [{ url }] });
   */
  prompt(
    text: string | Prompt,
    params?: Omit<CreateAgentParams, "prompt">,
    options?: PromptOptions,
  ): Promise<PromptResult> {
    return promptAgent(this.agents, this.runs, text, params, options);
  }
}
