import type { RunSnapshot } from "cursor-cloud-agents/store";
import { duration } from "./words.ts";

export interface State {
  kind: "live" | "trouble" | "good" | "bad" | "idle";
  text: string;
}

/** How a run and the connection to it stand, in one line. */
export function stateOf({ status, connection, result, error, parts }: RunSnapshot): State {
  if (result) return outcomeOf(result.status, result.durationMs);
  if (status === "error") return { kind: "bad", text: error?.message ?? "This run can't be shown." };
  if (status === "ready") return { kind: "idle", text: "Not watching. The run goes on." };
  if (connection === "reconnecting") return { kind: "trouble", text: "Connection lost. Trying again…" };
  if (connection !== "open") return { kind: "trouble", text: "Connecting…" };
  return { kind: "live", text: parts.length === 0 ? "Starting…" : "Working…" };
}

function outcomeOf(status: string, durationMs: number | undefined): State {
  const time = durationMs === undefined ? "" : ` in ${duration(durationMs)}`;
  if (status === "FINISHED") return { kind: "good", text: `Finished${time}` };
  if (status === "CANCELLED") return { kind: "idle", text: "Cancelled" };
  if (status === "EXPIRED") return { kind: "bad", text: "Expired" };
  return { kind: "bad", text: "Failed" };
}

/**
 * What a screen reader is told, unasked: only that something began, stalled, went on or ended. The words themselves are
 * there to be read; announced one by one they would never stop.
 */
export function announcementOf(run: RunSnapshot): string {
  const { kind, text } = stateOf(run);
  return kind === "live" ? "The agent is working." : text;
}

/** Branches and pull requests of a run that is over. */
export function Outcome({ result }: { result: RunSnapshot["result"] }) {
  return result?.git?.branches.map(({ branch, prUrl, repoUrl }) => (
    <span className="outcome" key={`${repoUrl} ${branch}`}>
      {branch !== undefined && <code>{branch}</code>}{" "}
      {prUrl !== undefined && (
        <a href={prUrl} rel="noreferrer">
          Pull request
        </a>
      )}
    </span>
  ));
}
