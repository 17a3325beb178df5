import type { Cursor } from "cursor-cloud-agents";
import { isApiError } from "cursor-cloud-agents";

/** What the app tells its user. */
export type Answer =
  | { state: "done"; text: string; prUrl?: string }
  | { state: "failed"; status: string }
  | { state: "later"; seconds: number };

/**
 * The part of an app that is worth testing: it asks an agent for a change, and turns each ending into something to show.
 * The client is passed in; that is all a test needs.
 */
export async function requestChange(cursor: Cursor, repository: string, wish: string): Promise<Answer> {
  try {
    const params = { repos: [{ url: repository }], autoCreatePR: true };
    const { result } = await cursor.prompt(wish, params);
    if (result.status !== "FINISHED") return { state: "failed", status: result.status };
    const prUrl = result.git?.branches[0]?.prUrl;
    return { state: "done", text: result.text ?? "", ...(prUrl === undefined ? {} : { prUrl }) };
  } catch (error) {
    if (!isApiError(error, "rate_limit_exceeded")) throw error;
    return { state: "later", seconds: Math.ceil((error.retryAfterMs ?? 60_000) / 1000) };
  }
}
