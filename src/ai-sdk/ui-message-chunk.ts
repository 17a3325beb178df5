import type { GitInfo, RunStatus } from "../index.ts";

/**
 * The data part `data-run` of a message: the run itself, in addition to its output. It is the message's first part and is
 * replaced in place as the run goes on.
 */
export interface RunData {
  /** The agent's id. */
  agentId: string;
  /** The run's id. */
  runId: string;
  /** Absent while the run is being created. A terminal status is the run's outcome. */
  status?: RunStatus;
  /** The run's whole duration in milliseconds, once it is over. */
  durationMs?: number;
  /** The agent's branches and pull requests, once the run is over. */
  git?: GitInfo;
  /** The final reply, where the streamed text doesn't end with it. */
  text?: string;
}

/**
 * The data parts of a message, for the AI SDK's own types.
 *
 * @example
 * const { messages } = useChat<UIMessage<unknown, RunDataTypes>>();
 */
export type RunDataTypes = { run: RunData };

/** Marks a tool as run elsewhere, so that the client neither runs it nor sends the chat again when it is done. */
interface RemoteTool {
  /** The tool call's `callId`. */
  toolCallId: string;
  dynamic: true;
  providerExecuted: true;
}

/**
 * One chunk of an AI SDK UI message stream, of the types that a run produces. A structural type of our own with the fields
 * of ai 5.0.0 only, so that it is assignable to the `UIMessageChunk` of ai 5, 6 and 7.
 */
export type UIMessageChunk<Metadata = unknown> =
  | { type: "start"; messageId: string; messageMetadata?: Metadata }
  | { type: "start-step" }
  | { type: "data-run"; id: "run"; data: RunData }
  | { type: "text-start" | "text-end"; id: string }
  | { type: "text-delta"; id: string; delta: string }
  | { type: "reasoning-start" | "reasoning-end"; id: string }
  | { type: "reasoning-delta"; id: string; delta: string }
  | ({ type: "tool-input-available"; toolName: string; input: unknown } & RemoteTool)
  | ({ type: "tool-output-available"; output: unknown } & RemoteTool)
  | ({ type: "tool-output-error"; errorText: string } & RemoteTool)
  | { type: "finish-step" }
  | { type: "finish" }
  | { type: "abort" }
  | { type: "error"; errorText: string };
