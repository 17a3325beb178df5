export { agentIdFrom } from "./agent-id.ts";
export { ApiPromise, type WithResponse } from "./api-promise.ts";
export type { Clock } from "./async.ts";
export type { HeadersInput } from "./check.ts";
export { Cursor, type PromptOptions, type PromptResult } from "./cursor.ts";
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
export type { CursorOptions, Middleware, MiddlewareCall, RequestOptions } from "./options.ts";
export { type Page, PagePromise } from "./pagination.ts";
export type { Models, Repositories, UsageResource, WorkerTokens } from "./resources/account.ts";
export type {
  AgentId,
  Agents,
  CreateAgentOptions,
  CreatedAgent,
  ListAgentsQuery,
} from "./resources/agents.ts";
export type { ArtifactPosition } from "./resources/artifact-continuation.ts";
export type { ArtifactDownload, DownloadOptions } from "./resources/artifact-download.ts";
export type { Artifacts } from "./resources/artifacts.ts";
export type {
  EnvironmentBuilds,
  Environments,
  ListEnvironmentBuildsQuery,
  ListEnvironmentsQuery,
} from "./resources/environments.ts";
export type {
  Claims,
  ListPendingRequestsQuery,
  PendingRequestFilters,
  PendingRequests,
} from "./resources/pending-requests.ts";
export type { CreateRunOptions, ListRunsQuery, Runs } from "./resources/runs.ts";
export type {
  EnvironmentSecrets,
  ListSecretsQuery,
  Secrets,
  SecretVersionOptions,
  TeamSecrets,
} from "./resources/secrets.ts";
export type { ListPoolsQuery, ListWorkersQuery, Pools, Workers } from "./resources/workers.ts";
export type {
  InvalidRunEvent,
  KnownRunEvent,
  RunEvent,
  RunEventData,
  RunEventType,
  RunStreamInclude,
  UnknownRunEvent,
} from "./runs/events.ts";
export type { RunCheckpoint } from "./runs/position.ts";
export type { RunResult, RunStream, RunStreamOptions } from "./runs/stream.ts";
export {
  emptyTranscript,
  reduceTranscript,
  type Transcript,
  type TranscriptTool,
} from "./runs/transcript.ts";
export type { WaitOptions } from "./runs/wait.ts";
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
  type PromptParams,
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
