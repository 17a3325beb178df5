import type {
  Agent,
  AgentSummary,
  AgentUsage,
  ApiKeyInfo,
  Artifact,
  Model,
  Repository,
  Run,
  RunCheckpoint,
  RunEvent,
  RunResult,
} from "../index.ts";

/**
 * A line that `--json` writes to stdout: one object, told apart by `type`. Fields may be added; none is renamed or removed.
 *
 * `run`, `watch` and `send` write `created` (not `watch`), then the run's events in the form of {@link RunEvent}, then exactly
 * one of `outcome`, `detached` and `failure`. Every other command that fails ends in `failure`, too. `error` is an event of
 * the stream; `failure` is about the command. A wrong command line (exit code 64) writes no line.
 */
export type JsonLine =
  | { type: "created"; agent?: Agent; run: Run; adopted?: true }
  | RunEvent
  | ({ type: "outcome"; exitCode: number } & RunResult)
  | {
      type: "detached";
      signal: string;
      agentId: string;
      runId: string;
      /** The position for `--from`. */
      checkpoint: RunCheckpoint;
      /** The command that follows the run again from there. */
      command: string;
      exitCode: number;
    }
  | { type: "failure"; error: Record<string, unknown>; hints: string[]; exitCode: number }
  | { type: "agent"; agent: Agent | AgentSummary; run?: Run }
  | { type: "cancelled"; agentId: string; runId: string; status?: string }
  | { type: "archived" | "unarchived" | "deleted"; agentId: string }
  | { type: "artifact"; artifact: Artifact }
  | {
      type: "file";
      state: "saved" | "skipped" | "rejected" | "failed";
      path: string;
      file?: string;
      sizeBytes?: number;
      reason?: string;
      message?: string;
    }
  | { type: "files"; saved: number; skipped: number; rejected: number; failed: number; folder: string }
  | { type: "usage"; usage: AgentUsage }
  | { type: "model"; model: Model }
  | { type: "repository"; repository: Repository }
  | { type: "me"; me: ApiKeyInfo }
  | { type: "check"; name: string; state: "ok" | "warn" | "fail"; detail: string; advice?: string }
  | { type: "diagnosis"; ok: boolean; exitCode: number }
  | { type: "listening"; url: string; artifactsUrl: string };
