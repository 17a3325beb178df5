import type { RunEventData, RunStatus, TranscriptTool } from "../index.ts";

/**
 * What a page is doing, in the words of useChat.
 *
 * - `submitted`: the run is asked for, nothing of the reply is there yet
 * - `streaming`: the reply grows
 * - `ready`: nothing more comes: the run is over (see `result.status` for how), it was stopped, or never started
 * - `error`: the run can't be read on; see `error`. The run itself may well go on
 */
export type RunStoreStatus = "submitted" | "streaming" | "ready" | "error";

/** How the store stands with its source. */
export type RunConnection = "connecting" | "open" | "reconnecting" | "closed";

/** A piece of the reply, from where another kind of part ended to where the next one begins. */
export interface RunTextPart {
  readonly type: "text";
  /** Unique among the parts, and the same after a reload: a key for lists. */
  readonly id: string;
  readonly text: string;
}

/** A piece of the agent's thinking. */
export interface RunReasoningPart {
  readonly type: "reasoning";
  readonly id: string;
  readonly text: string;
}

/** One tool call, in its latest state, at the place where it first appeared. */
export interface RunToolPart extends Readonly<TranscriptTool> {
  readonly type: "tool";
  readonly id: string;
}

/** What a run says and does, piece by piece. */
export type RunPart = RunTextPart | RunReasoningPart | RunToolPart;

/** A run as a page shows it. Immutable: a change makes a new one, which shares with the old what did not change. */
export interface RunSnapshot {
  readonly status: RunStoreStatus;
  readonly connection: RunConnection;
  readonly runId: string | undefined;
  /** The whole reply so far: the text parts, joined. */
  readonly text: string;
  /** In the order of their arrival. */
  readonly parts: readonly RunPart[];
  /** The run's own status; only `result` is its outcome. */
  readonly runStatus: RunStatus | undefined;
  /** The outcome: `status`, `text`, `durationMs`, `git`. Only FINISHED is success. */
  readonly result: RunEventData["result"] | undefined;
  /** Why the run can't be read on. */
  readonly error: Error | undefined;
}
