export { ApiPromise, type WithResponse } from "./api-promise.ts";
export type { Clock } from "./clock.ts";
export { Cursor } from "./cursor.ts";
export {
  ApiError,
  ArgumentError,
  type ClientErrorCode,
  ConnectionError,
  CursorError,
  type CursorErrorKind,
  isApiError,
  isArgumentError,
  isConnectionError,
  isCursorError,
  isRunFailedError,
  isStreamError,
  isTimeoutError,
  RunFailedError,
  StreamError,
  type StreamErrorReason,
  TimeoutError,
} from "./errors.ts";
export type { Claims } from "./fleet/claims.ts";
export type {
  ControllerClaim,
  RequestControllerOptions,
  StartRefusal,
} from "./fleet/controller-options.ts";
export type { Fleet } from "./fleet/fleet.ts";
export type { ListPoolsQuery, Pools } from "./fleet/pools.ts";
export type { RequestChange, RequestChangeReason } from "./fleet/queue-view.ts";
export type { RequestController } from "./fleet/request-controller.ts";
export type { PendingRequestFilters } from "./fleet/request-filters.ts";
export type { RequestQueue, WatchRequestsOptions } from "./fleet/request-queue.ts";
export type { ListPendingRequestsQuery, PendingRequests } from "./fleet/requests.ts";
export type { ListWorkersQuery, Workers } from "./fleet/workers.ts";
export type { Middleware, MiddlewareCall } from "./middleware.ts";
export type { CursorOptions, HeadersInput, RequestOptions } from "./options.ts";
export { type Page, PagePromise } from "./pagination.ts";
export type {
  AgentId,
  Agents,
  CreateAgentOptions,
  CreatedAgent,
  ListAgentsQuery,
} from "./resources/agents.ts";
export type { ArtifactDownload, ArtifactPosition, DownloadOptions } from "./resources/artifact-download.ts";
export type { Artifacts } from "./resources/artifacts.ts";
export type {
  EnvironmentBuilds,
  Environments,
  ListEnvironmentBuildsQuery,
  ListEnvironmentsQuery,
} from "./resources/environments.ts";
export type { Models } from "./resources/models.ts";
export type { PromptOptions, PromptResult } from "./resources/prompt.ts";
export type { Repositories } from "./resources/repositories.ts";
export type { CreateRunOptions, ListRunsQuery, Runs } from "./resources/runs.ts";
export type {
  EnvironmentSecrets,
  ListSecretsQuery,
  Secrets,
  SecretVersionOptions,
  TeamSecrets,
} from "./resources/secrets.ts";
export type { UsageResource } from "./resources/usage.ts";
export type { WorkerTokens } from "./resources/worker-tokens.ts";
export type { RunCheckpoint } from "./run-stream/cursor.ts";
export type {
  InvalidRunEvent,
  KnownRunEvent,
  RunEvent,
  RunEventData,
  RunEventType,
  RunStreamInclude,
  UnknownRunEvent,
} from "./run-stream/events.ts";
export type { RunResult, RunStream } from "./run-stream/run-stream.ts";
export type { RunStreamOptions } from "./run-stream/stream-options.ts";
export {
  emptyTranscript,
  reduceTranscript,
  type Transcript,
  type TranscriptTool,
} from "./run-stream/transcript.ts";
export type { WaitOptions } from "./run-stream/wait.ts";
export {
  type ActiveEnvironmentBuild,
  type Agent,
  type AgentEnv,
  type AgentMode,
  type AgentStatus,
  type AgentSummary,
  type AgentUsage,
  type ApiKeyInfo,
  type Artifact,
  type ArtifactUrl,
  type AssistantEventData,
  type Claim,
  type ClaimToken,
  type CreateAgentParams,
  type CreateClaimParams,
  type CreateEnvironmentParams,
  type CreateRunParams,
  type CreateWorkerTokenParams,
  type CustomSubagent,
  type DeregisterPoolParams,
  type DoneEventData,
  type Environment,
  type EnvironmentBuild,
  type EnvironmentChange,
  type EnvironmentDetails,
  type ErrorEventData,
  type FinishedRun,
  type FleetSummary,
  type GitBranch,
  type GitInfo,
  type HeartbeatEventData,
  type ImageMimeType,
  type InteractionUpdate,
  isTerminalStatus,
  type McpServer,
  type Model,
  type ModelRef,
  type PendingRequest,
  type Pool,
  type Prompt,
  type PromptImage,
  type RegisterPoolParams,
  type RepoConfig,
  type Repository,
  type ResultEventData,
  type Run,
  type RunRef,
  type RunStatus,
  type RunSummary,
  type RunUsage,
  type Secret,
  type SecretScope,
  type SetSecretParams,
  type StatusEventData,
  type TerminalRun,
  type TerminalRunStatus,
  type ThinkingEventData,
  type ToolCallEventData,
  type UnsuccessfulRun,
  type UpdateEnvironmentParams,
  type Usage,
  type Worker,
  type WorkerToken,
} from "./types.ts";
export { agentIdFrom } from "./uuid.ts";
