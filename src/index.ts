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
export type { Models } from "./resources/models.ts";
export type { PromptOptions, PromptResult } from "./resources/prompt.ts";
export type { Repositories } from "./resources/repositories.ts";
export type { CreateRunOptions, ListRunsQuery, Runs } from "./resources/runs.ts";
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
  type Agent,
  type AgentEnv,
  type AgentMode,
  type AgentStatus,
  type AgentSummary,
  type AgentUsage,
  type ApiKeyInfo,
  type Artifact,
  type ArtifactUrl,
  type CreateAgentParams,
  type CreateRunParams,
  type CreateWorkerTokenParams,
  type CustomSubagent,
  type FinishedRun,
  type GitBranch,
  type GitInfo,
  type ImageMimeType,
  isTerminalStatus,
  type McpServer,
  type Model,
  type ModelRef,
  type Prompt,
  type PromptImage,
  type RepoConfig,
  type Repository,
  type Run,
  type RunRef,
  type RunStatus,
  type RunSummary,
  type RunUsage,
  type TerminalRun,
  type TerminalRunStatus,
  type UnsuccessfulRun,
  type Usage,
  type WorkerToken,
} from "./types.ts";
export { agentIdFrom } from "./uuid.ts";
