import type { components } from "../generated/openapi.ts";

type Schemas = components["schemas"];
/**
 * A schema of the contract. Most types below are interfaces that extend one, because editors show an interface by its own
 * name, and an alias by the type that it stands for.
 */
type Of<Name extends keyof Schemas> = Schemas[Name];

/** Identifies a run. Every {@link Run} is a ref, too. */
export interface RunRef {
  /** The agent's id. */
  agentId: string;
  /** The run's id. */
  id: string;
}

// ── What the server sends ────────────────────────────────────────────────────────────────────────────────────────

// "(newer)" marks what only the newer edition of the official documentation has; some servers may not know it yet.

/** A durable agent: one conversation and workspace, over many runs. */
export interface Agent extends Of<"Agent"> {}
/**
 * An agent as lists return it: its identity only; `agents.get()` loads the rest. Some responses contain repositories, too,
 * but the documentation does not promise them.
 */
export type AgentSummary = Omit<Schemas["AgentSummary"], "repos">;
/** ACTIVE, IDLE or ARCHIVED: whether the agent's machine must stay up. It says nothing about a run. */
export type AgentStatus = Schemas["AgentStatus"];
/** One prompt's execution on an agent. */
export interface Run extends Of<"Run"> {}
/** A run as lists return it: without `result`. */
export interface RunSummary extends Of<"RunSummary"> {}
/** CREATING, RUNNING, FINISHED, ERROR, CANCELLED, EXPIRED, or a value this version doesn't know yet. */
export type RunStatus = Schemas["RunStatus"];
/** The agent's pushed branches and pull requests: state of the agent, the same on all its runs. */
export interface GitInfo extends Of<"GitInfo"> {}
/** A branch the agent has pushed, with its pull request where there is one; `repoUrl` has no scheme. See Get A Run. */
export interface GitBranch extends Of<"GitBranch"> {}
/** Tokens used, in total and per run. */
export interface AgentUsage extends Of<"AgentUsage"> {}
/** One run's tokens; without `usageUuid` nothing was recorded yet. See Get Agent Usage. */
export interface RunUsage extends Of<"RunUsage"> {}
/** Token counts; `totalTokens` is the sum of the other four. See Get Agent Usage. */
export interface Usage extends Of<"Usage"> {}
/** A file that an agent produced for its user. */
export interface Artifact extends Of<"Artifact"> {}
/** A presigned URL, good for about 15 minutes. */
export interface ArtifactUrl extends Of<"ArtifactUrl"> {}
/** The owner of a key. */
export interface ApiKeyInfo extends Of<"ApiKeyInfo"> {}
/** A recommended model with the parameters and variants it accepts. See List Models. */
export interface Model extends Of<"Model"> {}
/** A repository that Cursor's app can reach. See List GitHub Repositories. */
export interface Repository extends Of<"Repository"> {}
/** A one-hour token with which a worker runs as a team member. */
export interface WorkerToken extends Of<"SubToken"> {}

/** A self-hosted worker that is connected. Times are Unix milliseconds. */
export interface Worker extends Of<"Worker"> {}
/** Connected and busy workers of the key's team and user; either part may be missing. */
export interface FleetSummary extends Of<"FleetSummary"> {}
/** A named group of workers; it stays registered with no worker connected. Times are Unix milliseconds. */
export interface Pool extends Of<"Pool"> {}
/**
 * A request that waits for a worker of a pool: the one its label `pool` names, else `default`. With `claimedWorkerId`
 * it is claimed by that worker, which is offline and has `wakeTimeoutMs` milliseconds left to come back.
 */
export interface PendingRequest extends Of<"PendingRequest"> {}
/** A reservation of a request for one worker. `token` and `expiresAt` come with `sessionToken: true` (newer). */
export interface Claim extends Of<"Claim"> {}
/** A token, good for seven days, with which the worker of a claim connects (newer). */
export interface ClaimToken extends Of<"ClaimToken"> {}

/** A named cloud environment (newer). */
export interface Environment extends Of<"Environment"> {}
/** An environment with its configuration (newer). */
export interface EnvironmentDetails extends Of<"EnvironmentDetails"> {}
/** One change of an environment (newer). */
export interface EnvironmentChange extends Of<"EnvironmentChange"> {}
/** One build of an environment (newer). */
export interface EnvironmentBuild extends Of<"EnvironmentBuild"> {}
/** What agents of an environment start from (newer). */
export interface ActiveEnvironmentBuild extends Of<"ActiveEnvironmentBuild"> {}
/** A stored secret, without its value (newer). */
export interface Secret extends Of<"Secret"> {}
/** `team`, `user` or `environment` (newer). */
export type SecretScope = Schemas["SecretScope"];

// The payloads of a run stream's events; `RunEventData` says which is which.
/** A change of status. It is not the outcome, which only `result` is. See Stream A Run, also for the payloads below. */
export interface StatusEventData extends Of<"StatusEventData"> {}
/** A piece of the reply. */
export interface AssistantEventData extends Of<"AssistantEventData"> {}
/** A piece of the agent's thinking. */
export interface ThinkingEventData extends Of<"ThinkingEventData"> {}
/** One state of a tool call; what is too large for the stream is left out and flagged in `truncated`. */
export interface ToolCallEventData extends Of<"ToolCallEventData"> {}
/** What the simplified events say, with more detail and in the shape of Cursor's own SDK. */
export interface InteractionUpdate extends Of<"InteractionUpdate"> {}
/** Shows that the connection is alive; has no fields. */
export type HeartbeatEventData = Schemas["HeartbeatEventData"];
/** How the run ended; `durationMs` is its duration in milliseconds. */
export interface ResultEventData extends Of<"ResultEventData"> {}
/** What is wrong with the stream. It says nothing about the run. */
export interface ErrorEventData extends Of<"ErrorEventData"> {}
/** The end of the stream; has no fields. */
export type DoneEventData = Schemas["DoneEventData"];

/** The statuses after which a run changes no more. */
export type TerminalRunStatus = "FINISHED" | "ERROR" | "CANCELLED" | "EXPIRED";

/** A run that ended well. `result` is the agent's final reply, absent when there was none. */
export type FinishedRun = Omit<Run, "status"> & { status: "FINISHED" };
/** A run that ended in any other way. The reply up to then is `partialResult`, never `result`. */
export type UnsuccessfulRun = Omit<Run, "status" | "result"> & {
  status: Exclude<TerminalRunStatus, "FINISHED">;
  partialResult?: string;
};
/** A run at its end: only a FINISHED one has a `result`. */
export type TerminalRun = FinishedRun | UnsuccessfulRun;

// ── What we send ─────────────────────────────────────────────────────────────────────────────────────────────────

/** Optional fields may be undefined, too: they are left out. */
type Given<Fields> = {
  [Key in keyof Fields]: object extends Pick<Fields, Key> ? Fields[Key] | undefined : Fields[Key];
};

/** Fields that must not be given together with those of the same alternative. */
type Without<Keys extends PropertyKey> = { [Key in Keys]?: undefined };

/** An image by its bytes (base64, at most 15 MB, with its type), or by an http(s) URL that Cursor fetches. */
export type PromptImage = ImageCommon &
  (
    | ({ data: string; mimeType: ImageMimeType } & Without<"url">)
    | ({ url: string } & Without<"data" | "mimeType">)
  );
/** The types of image that a prompt takes. See Create An Agent. */
export type ImageMimeType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";
interface ImageCommon {
  /** Pixels, 1 or more. */
  dimension?: { width: number; height: number };
}

/** What the agent is asked: text, and at most five images. */
export interface Prompt {
  /** What to do, in words. */
  text: string;
  /** At most five. */
  images?: PromptImage[];
}

// The bodies as the contract has them. Callers use the `Params` below, which also say which fields exclude each other.
export type PromptInput = Schemas["PromptInput"];
export type CreateAgentRequest = Schemas["CreateAgentRequest"];
export type CreateRunRequest = Schemas["CreateRunRequest"];

/** Where an agent runs: in Cursor's cloud, on a pool, on a machine of yours. */
export interface AgentEnv extends Of<"AgentEnv"> {}
/** A model by its id, with parameters as it names them (values are strings). See List Models. */
export interface ModelRef extends Of<"ModelRef"> {}
/** A repository to work on: `url` always, with a `startingRef` or a `prUrl`. See Create An Agent. */
export interface RepoConfig extends Of<"RepoConfig"> {}
/** An MCP server, remote (`url`) or inside the agent's machine (`command`). At most 50, with unique names. */
export type McpServer = Schemas["McpServer"];
/** A subagent to delegate to: name and description of at most 100 and 1,000 characters, prompt of at most 8,192. */
export interface CustomSubagent extends Of<"CustomSubagent"> {}
/** `agent` changes code; `plan` explores and drafts a plan first. */
export type AgentMode = Schemas["AgentMode"];

/** Repositories can't be given together with a named cloud environment, which has its own. */
type Target =
  | {
      env?:
        | { type: "cloud"; name?: undefined }
        | { type: "pool" | "machine"; name?: string | undefined }
        | undefined;
      repos?: RepoConfig[] | undefined;
    }
  | ({ env: { type: "cloud"; name: string } } & Without<"repos">);

/** `agentId` and `envVars` exclude each other: the server accepts only one of them. */
type AgentIdOrEnvVars =
  | ({ agentId?: string | undefined } & Without<"envVars">)
  | ({ envVars?: Record<string, string> | undefined } & Without<"agentId">);

/**
 * What a new agent is made of beside its prompt. Not an `Omit` of {@link CreateAgentParams}: that would fold its unions,
 * and allow together what excludes each other.
 */
export type PromptParams = Given<
  Omit<Schemas["CreateAgentRequest"], "prompt" | "env" | "repos" | "agentId" | "envVars">
> &
  Target &
  AgentIdOrEnvVars;

/** What a new agent is made of; see Create An Agent. Only `prompt` is required. */
export type CreateAgentParams = PromptParams & {
  prompt: string | Prompt;
};

/** A follow-up; see Create A Run. */
export type CreateRunParams = Given<Omit<Schemas["CreateRunRequest"], "prompt">> & {
  prompt: string | Prompt;
};

/** The team member a worker token is for: by e-mail address or by numeric id. */
export type CreateWorkerTokenParams =
  | ({ forUserEmail: string } & Without<"forUserId">)
  | ({ forUserId: number } & Without<"forUserEmail">);

/** A pool is tied to a repository by owner and name together; without them it takes any. The URL is for display. */
type PoolRepository =
  | { repoOwner: string; repoName: string; repoUrl?: string | undefined }
  | Without<"repoOwner" | "repoName" | "repoUrl">;

/** How long a claimed request waits for its offline worker, in whole seconds; the newer documentation renames the field. */
type PoolTimeout =
  | ({ offlineReconnectTimeoutSeconds?: number | undefined } & Without<"workerReadyTimeoutSeconds">)
  | ({ workerReadyTimeoutSeconds?: number | undefined } & Without<"offlineReconnectTimeoutSeconds">);

/** A pool to register; see Register A Pool. */
export type RegisterPoolParams = { scope: "user" | "team"; poolName: string } & PoolRepository & PoolTimeout;

/** A pool to deregister, with the field names of the API's query; see Deregister A Pool. */
export type DeregisterPoolParams = { scope: "user" | "team"; pool_name: string } & (
  | { repo_owner: string; repo_name: string }
  | Without<"repo_owner" | "repo_name">
);

/** What to claim, and for which worker; see Claim A Pending Request. `sessionToken` is newer. */
export type CreateClaimParams = Given<Schemas["ClaimRequest"]>;

/** An environment to create (newer). */
export interface CreateEnvironmentParams extends Of<"CreateEnvironmentRequest"> {}
/** What to change of an environment (newer). */
export type UpdateEnvironmentParams = Given<Schemas["UpdateEnvironmentRequest"]>;
/** The value of a secret, and where it applies (newer). */
export type SetSecretParams = Given<Schemas["PutSecretRequest"]>;

const terminal: ReadonlySet<string> = new Set(["FINISHED", "ERROR", "CANCELLED", "EXPIRED"]);

/** Whether a run with this status is over. A status this version doesn't know is not. */
export const isTerminalStatus = (status: string): status is TerminalRunStatus => terminal.has(status);
