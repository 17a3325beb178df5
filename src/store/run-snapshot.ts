import type { RunEventData, RunStatus, TranscriptTool } from "../index.ts";

/**
 * What a page shows of its reading, in the words of useChat.
 *
 * - `submitted`: the run was requested, and nothing of the reply has arrived
 * - `streaming`: the reply grows
 * - `ready`: nothing more arrives: the run is over (see `result.status` for how), was stopped, or was never started
 * - `error`: reading the run failed; see `error`. The run itself may still be active
 */
export type RunStoreStatus = "submitted" | "streaming" | "ready" | "error";

/** The state of the connection to the source. */
export type RunConnection = "connecting" | "open" | "reconnecting" | "closed";

/** A piece of the reply, between two parts of other kinds. */
export interface RunTextPart {
  /** Always `text`. */
  readonly type: "text";
  /** Unique among the parts, and the same after a reload: a key for lists. */
  readonly id: string;
  /** The text so far. */
  readonly text: string;
}

/** A piece of the agent's thinking. */
export interface RunReasoningPart {
  /** Always `reasoning`. */
  readonly type: "reasoning";
  /** Unique among the parts, and the same after a reload: a key for lists. */
  readonly id: string;
  /** The text so far. */
  readonly text: string;
}

/** One tool call in its latest state, at the position where it first appeared. */
export interface RunToolPart extends Readonly<TranscriptTool> {
  /** Always `tool`. */
  readonly type: "tool";
  /** Unique among the parts, and the same after a reload: a key for lists. */
  readonly id: string;
}

/** One piece of what a run says and does. */
export type RunPart = RunTextPart | RunReasoningPart | RunToolPart;

/** A run as a page shows it. Immutable: each change makes a new one, which shares the unchanged parts with the old one. */
export interface RunSnapshot {
  /** What the page shows of its reading. */
  readonly status: RunStoreStatus;
  /** The state of the connection to the source. */
  readonly connection: RunConnection;
  /** The run's id, once it is known. */
  readonly runId: string | undefined;
  /** The whole reply so far: the text parts, joined. */
  readonly text: string;
  /** In the order of their arrival. */
  readonly parts: readonly RunPart[];
  /** The run's own status; only `result` is its outcome. */
  readonly runStatus: RunStatus | undefined;
  /** The outcome: `status`, `text`, `durationMs`, `git`. Only FINISHED is success. */
  readonly result: RunEventData["result"] | undefined;
  /** Why the run can't be read any further. */
  readonly error: Error | undefined;
}
