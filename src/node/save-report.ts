import { CursorError } from "../index.ts";
import type { RejectionReason } from "./artifact-names.ts";
import { isDiskError } from "./folder.ts";
import type { SavedArtifact } from "./save-artifact.ts";

/** A file that was not downloaded, because it is already in the folder. */
export interface SkippedArtifact {
  /** The artifact's path, as the server has it. */
  path: string;
  /** Its absolute path. */
  file: string;
  /** Bytes on the disk. */
  sizeBytes: number;
}

/** A file that was not saved, because its name, or what already has that name, is not safe to write to. */
export interface RejectedArtifact {
  /** The artifact's path, as the server has it. */
  path: string;
  /** What to branch on. */
  reason: RejectionReason;
  /** The reason in words, for people. */
  message: string;
}

/**
 * Why a file failed.
 *
 * - `api`: the API or the storage responded with an error status; `error` is an ApiError
 * - `changed`: it was replaced during each of three attempts
 * - `too-large`: it is larger than `maxBytes`
 * - `connection`, `timeout`: it could not be completed; the next call continues it
 * - `disk`: it could not be written; `error.cause` is the error of `node:fs`
 * - `other`: anything else
 */
export type FailureReason = "api" | "changed" | "too-large" | "connection" | "timeout" | "disk" | "other";

/** A file that could not be saved. */
export interface FailedArtifact {
  /** The artifact's path, as the server has it. */
  path: string;
  /** What to branch on. */
  reason: FailureReason;
  /** The error that was thrown. */
  error: unknown;
}

/** The outcome of each file, in the order of the list. */
export interface SaveReport {
  /** Saved by this call: whole and on the disk. */
  saved: SavedArtifact[];
  /** Already in the folder, unchanged. */
  skipped: SkippedArtifact[];
  /** Not safe to write. */
  rejected: RejectedArtifact[];
  /** Worth another attempt. */
  failed: FailedArtifact[];
  /** The list had 100 files, the most that the API lists: the agent may have others, which no call can name. Absent otherwise. */
  mayHaveMore?: true;
  /** The manifest's path; absent with `manifest: false` and where no file was to be saved. `error`: why it could not be written. */
  manifest?: { file: string; error?: unknown };
}

/** How the save of one file ended. */
export type Outcome =
  | { state: "saved"; value: SavedArtifact }
  | { state: "skipped"; value: SkippedArtifact }
  | { state: "rejected"; value: RejectedArtifact }
  | { state: "failed"; value: FailedArtifact };

/** Sorts the outcomes of all files by their state. */
export function toReport(
  outcomes: readonly Outcome[],
  manifest: { file: string; error: unknown } | undefined,
  mayHaveMore: boolean,
): SaveReport {
  const report: SaveReport = { saved: [], skipped: [], rejected: [], failed: [] };
  if (mayHaveMore) report.mayHaveMore = true;
  for (const { state, value } of outcomes) (report[state] as unknown[]).push(value);
  if (manifest) {
    const { file, error } = manifest;
    report.manifest = { file, ...(error === undefined ? {} : { error }) };
  }
  return report;
}

export function failureReason(error: unknown): FailureReason {
  if (isDiskError(error)) return "disk";
  if (!CursorError.isInstance(error)) return "other";
  if (isDiskError(error.cause) && error.kind === "error") return "disk";
  const { code } = error as { code?: string };
  if (code === "artifact_too_large") return "too-large";
  if (code === "invalid_response") return "changed";
  return error.kind === "api" || error.kind === "connection" || error.kind === "timeout"
    ? error.kind
    : "other";
}
