import type { components } from "../../generated/openapi.ts";
import { fingerprint } from "./body-source.ts";
import type { Clock } from "./clock.ts";
import type { RunLog } from "./runs/run-log.ts";
import type { Requester } from "./workers/worker-records.ts";

// The schemas of the contract that the emulator uses, under short names.
type Schemas = components["schemas"];

export type Agent = Schemas["Agent"];
export type AgentEnv = Schemas["AgentEnv"];
export type AgentMode = Schemas["AgentMode"];
export type AgentSummary = Schemas["AgentSummary"];
export type ApiKeyInfo = Schemas["ApiKeyInfo"];
export type CreateAgentRequest = Schemas["CreateAgentRequest"];
export type Git = Schemas["GitInfo"];
export type GitBranch = Schemas["GitBranch"];
export type Model = Schemas["Model"];
export type RepoConfig = Schemas["RepoConfig"];
export type Run = Schemas["Run"];
export type RunStatus = Schemas["RunStatus"];
export type RunSummary = Schemas["RunSummary"];
export type Usage = Schemas["Usage"];

/** Creates the ids of one emulator. They start again in each emulator, so the same calls give the same ids. @internal */
export class Ids {
  #count = 0;
  #requests = 0;
  #streamIds = 0;
  #streamMs = 0;
  #streamSequence = 0;

  uuid(): string {
    return `00000000-0000-4000-8000-${(++this.#count).toString(16).padStart(12, "0")}`;
  }

  /** Id of a request. It has its own counter, so that further requests don't change the ids of agents and runs. */
  requestId(): string {
    return `req-${String(++this.#requests).padStart(8, "0")}`;
  }

  /** `<epoch-ms>-<n>`: strictly rising over all runs. As with the service n has gaps, and does not always begin at 0. */
  streamId(now: number): string {
    const ms = Math.max(Math.floor(now), this.#streamMs);
    const isNew = ms !== this.#streamMs;
    this.#streamIds += 1;
    if (isNew) this.#streamSequence = this.#streamIds % 7 === 0 ? 1 : 0;
    else this.#streamSequence += this.#streamIds % 4 === 2 ? 2 : 1;
    this.#streamMs = ms;
    return `${ms}-${this.#streamSequence}`;
  }
}

/** A file of an agent. @internal */
export interface ArtifactRecord {
  path: string;
  bytes: Uint8Array;
  contentType: string;
  etag: string;
  updatedAt: number;
}

/** How a run is ended from outside of its script. @internal */
export interface RunControl {
  /** Stops writing frames and frees the timer. */
  stop(): void;
  /** Ends the run with this status. */
  endAs(status: "CANCELLED" | "ERROR" | "EXPIRED"): void;
}

/** A run with everything the emulator knows about it. @internal */
export interface RunRecord {
  id: string;
  agentId: string;
  prompt: string;
  mode: AgentMode;
  status: RunStatus;
  createdAt: number;
  updatedAt: number;
  endedAt?: number;
  durationMs?: number;
  result?: string;
  usage?: Usage;
  usageUuid?: string;
  log: RunLog;
  /** Bodies that the next connections to the stream get instead of its frames. */
  preludes: ("unavailable" | Uint8Array)[];
  /** The script starts with recorded frames that include the leading status. */
  leadRecorded: boolean;
  /** Run id within the frames, if they were recorded elsewhere. */
  recordedRunId?: string;
  streamExpired: boolean;
  player?: RunControl;
  /** Fields set by `setRun`; they replace those in answers. */
  overrides: Record<string, unknown>;
}

/** An agent. @internal */
export interface AgentRecord {
  id: string;
  owner: string;
  /** Who created it, as its pool request says. */
  requester: Requester;
  /** Rises with creation; orders agents with the same time. */
  order: number;
  name: string;
  env: AgentEnv;
  repos: RepoConfig[];
  workOnCurrentBranch: boolean;
  autoCreatePR: boolean;
  skipReviewerRequest: boolean;
  customSubagents?: unknown[];
  openAsCursorGithubApp?: boolean;
  metadata?: Record<string, string>;
  mode: AgentMode;
  archived: boolean;
  createdAt: number;
  updatedAt: number;
  /** Oldest first. */
  runs: RunRecord[];
  /** Events with an id of all its runs; its steps are numbered by them. */
  updates: number;
  branches: GitBranch[];
  /** Set when a run ends: from then on answers have `git` even if nothing was pushed. */
  gitKnown: boolean;
  artifacts: Map<string, ArtifactRecord>;
  overrides: Record<string, unknown>;
}

/** Whether a run with this status is over. Statuses that a script makes up are not terminal. @internal */
export function isTerminal(status: string): boolean {
  return status === "FINISHED" || status === "ERROR" || status === "CANCELLED" || status === "EXPIRED";
}

/** Agents with their runs and artifacts, and the ids of one emulator. @internal */
export class Store {
  readonly ids = new Ids();
  readonly agents = new Map<string, AgentRecord>();
  /** Open run streams. */
  connections = 0;
  #order = 0;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  nextOrder(): number {
    return ++this.#order;
  }

  /** A new id for an event of a stream. */
  mintStreamId(): string {
    return this.ids.streamId(this.now());
  }

  /** Whether any run has sent an event with this id. */
  knowsStreamId(id: string): boolean {
    for (const agent of this.agents.values()) {
      if (agent.runs.some((run) => run.log.positionAfter(id) !== undefined)) return true;
    }
    return false;
  }

  /** Frees the logs of runs that are over and whose streams can't be opened any more. */
  forgetStreams(olderThan: number): void {
    for (const agent of this.agents.values()) {
      for (const { log, createdAt, streamExpired } of agent.runs) {
        if (log.closed && log.readers === 0 && (streamExpired || createdAt <= olderThan)) log.clear();
      }
    }
  }

  findRun(runId: string): { agent: AgentRecord; run: RunRecord } | undefined {
    for (const agent of this.agents.values()) {
      const run = agent.runs.find((candidate) => candidate.id === runId);
      if (run !== undefined) return { agent, run };
    }
    return undefined;
  }

  deleteAgent(agent: AgentRecord): void {
    for (const run of agent.runs) {
      run.player?.stop();
      run.log.close();
    }
    this.agents.delete(agent.id);
  }

  addArtifact(agent: AgentRecord, path: string, bytes: Uint8Array, contentType?: string): void {
    const updatedAt = this.now();
    agent.artifacts.set(path, {
      path,
      bytes,
      contentType: contentType ?? guessContentType(path),
      etag: `"${fingerprint(bytes)}"`,
      updatedAt,
    });
  }

  /** Adds a pushed branch, or updates one that is known. */
  pushBranch(agent: AgentRecord, branch: GitBranch): void {
    const known = agent.branches.find(
      (candidate) => candidate.branch === branch.branch && candidate.repoUrl === branch.repoUrl,
    );
    if (known === undefined) agent.branches.push(branch);
    else Object.assign(known, branch);
    agent.gitKnown = true;
  }
}

const contentTypes: Readonly<Record<string, string>> = {
  gif: "image/gif",
  html: "text/html",
  jpg: "image/jpeg",
  json: "application/json",
  md: "text/markdown",
  mp4: "video/mp4",
  png: "image/png",
  txt: "text/plain",
};

function guessContentType(path: string): string {
  return contentTypes[path.slice(path.lastIndexOf(".") + 1).toLowerCase()] ?? "application/octet-stream";
}
