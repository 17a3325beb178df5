import { ApiError, ConnectionError, TimeoutError } from "../errors.ts";
import { isTorn } from "../http/retry.ts";

/**
 * What a failure to open a stream means.
 *
 * - `gone`: the stream is over for good, the run need not be
 * - `position`: the server doesn't know the position it was sent
 * - `drop`: worth another try
 * - `final`: nothing will change it
 */
export type Refusal = "gone" | "position" | "drop" | "final";

/** Codes first: statuses have been seen to differ. */
export function judgeRefusal(error: unknown, sent: string | undefined): Refusal {
  if (ConnectionError.isInstance(error) || TimeoutError.isInstance(error)) return "drop";
  if (!ApiError.isInstance(error)) return "final";
  const { status, code } = error;
  if (status === 410 || code === "stream_expired") return "gone";
  if (code === "invalid_last_event_id" && sent !== undefined) return "position";
  // The reason got lost on the way. Which conflict it is, asking again tells; what can be wrong with a request that was
  // good before is its position, and a refused one isn't sent twice.
  if (status === 409 && isTorn(error)) return "drop";
  if (status === 400 && isTorn(error) && sent !== undefined) return "position";
  if (code === "usage_limit_exceeded") return "final";
  if (status >= 500 || status === 429 || status === 408 || code === "stream_unavailable") return "drop";
  return "final";
}
