import type { ApiPromise } from "./api-promise.ts";
import { checkCallback } from "./check.ts";
import { ArgumentError, about } from "./errors.ts";
import { shortestInText } from "./http/redact.ts";
import { Transport } from "./http/transport.ts";
import { type CursorOptions, type RequestOptions, resolveOptions } from "./options.ts";
import { getApiKeyInfo, Models, Repositories, UsageResource, WorkerTokens } from "./resources/account.ts";
import { Agents } from "./resources/agents.ts";
import { Artifacts } from "./resources/artifacts.ts";
import { Environments } from "./resources/environments.ts";
import { Runs } from "./resources/runs.ts";
import { Secrets } from "./resources/secrets.ts";
import { Workers } from "./resources/workers.ts";
import type { RunResult } from "./runs/stream.ts";
import type { Agent, ApiKeyInfo, CreateAgentParams, Prompt, PromptParams, Run } from "./types.ts";

/** The options of {@link Cursor.prompt}, beside {@link RequestOptions}. */
export interface PromptOptions extends RequestOptions {
  /** Called once with the agent's id, before the request that creates it is sent; never for a create with `envVars`. */
  onAgentId?: ((agentId: string) => void) | undefined;
  /** Called once, when the agent and its run exist and before the run is read. The place to store their ids. */
  onCreated?: ((created: { agent: Agent; run: Run }) => void) | undefined;
  /** Called with each piece of the reply. */
  onText?: ((delta: string) => void) | undefined;
}

/** The outcome of a prompt, with the agent to continue with. */
export interface PromptResult {
  /** The agent that was created. */
  agent: Agent;
  /** The run as it was created; `result` says how it ended. */
  run: Run;
  /** How the run ended. */
  result: RunResult;
}

/**
 * A client of the Cursor Cloud Agents API v1.
 *
 * @throws ArgumentError when an option is not valid, before anything is sent
 * @example
 * const cursor = new Cursor({ apiKey: process.env.CURSOR_API_KEY });
 * const { agent, run } = await cursor.agents.create({ prompt: "Add a README" });
 * for await (const text of cursor.runs.stream(run).text()) process.stdout.write(text);
 */
export class Cursor {
  /** Agents: create, load, archive, delete. */
  readonly agents: Agents;
  /** Runs: follow up, stream, wait for, cancel. */
  readonly runs: Runs;
  /** Files that agents produced: list, download. */
  readonly artifacts: Artifacts;
  /** Tokens used. */
  readonly usage: UsageResource;
  /** The models that can be chosen. */
  readonly models: Models;
  /** The repositories that agents can work on. */
  readonly repositories: Repositories;
  /** Tokens for workers that run as a team member. */
  readonly workerTokens: WorkerTokens;
  /** Self-hosted workers: their pools, the requests that wait for them, claims. */
  readonly workers: Workers;
  /** Named cloud environments and their builds. Only the newer edition of the official documentation has them. */
  readonly environments: Environments;
  /** Stored secrets. Only the newer edition of the official documentation has them. */
  readonly secrets: Secrets;
  readonly #transport: Transport;

  constructor(options: CursorOptions = {}) {
    const transport = new Transport(resolveOptions(options));
    this.#transport = transport;
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
   * Replaces this client's keys in a text, in every form in which they are sent, so that the text can be shown or logged.
   * Other secrets stay, and so do keys under 16 characters, which could be words of the text.
   */
  redact(text: string): string {
    return this.#transport.redactor.text(text, shortestInText);
  }

  /**
   * Loads the owner of the key: a user, with name and address, or a service account.
   * @see API Key Info
   */
  me(options?: RequestOptions): ApiPromise<ApiKeyInfo> {
    return getApiKeyInfo(this.#transport, options);
  }

  /**
   * Runs one prompt from start to end: creates an agent, streams its run, and resolves with the outcome, whatever it is.
   * @throws what `agents.create` and `runs.stream` throw; after the create, errors carry `agentId` and `runId`
   * @example
   * const { result } = await cursor.prompt("Explain this repository", { repos: [{ url }] });
   */
  async prompt(
    text: string | Prompt,
    params: PromptParams = {},
    options: PromptOptions = {},
  ): Promise<PromptResult> {
    const { onAgentId, onCreated, onText, ...requestOptions } = options ?? {};
    // The callbacks are checked before an agent is created, which costs money. `agents.create` checks the other options.
    checkCallback("onCreated", onCreated);
    checkCallback("onText", onText);
    for (const name of ["onAgentId", "onCreated", "onText"]) {
      if (name in (params ?? {})) throw new ArgumentError(name, "belongs in the third argument, the options");
    }
    const body = { ...params, prompt: text } as CreateAgentParams;
    const { agent, run } = await this.agents.create(body, { ...requestOptions, onAgentId });
    try {
      onCreated?.({ agent, run });
      const { signal, ...others } = requestOptions;
      const stream = this.runs.stream(run, { signal }, others);
      for await (const delta of stream.text()) onText?.(delta);
      return { agent, run, result: await stream.result() };
    } catch (error) {
      throw about(error, run);
    }
  }
}
