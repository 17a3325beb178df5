import { type Clock, follow, orAbort } from "../clock.ts";

/**
 * Reads a body as text, about `limit` bytes at most, and stops at once when aborted: the reader is cancelled
 * here, since a custom fetch may not listen to the signal once it has answered.
 * @param partial A body that breaks off or is aborted gives what came, instead of an error.
 */
export async function readText(
  response: Response,
  limit: number,
  signal?: AbortSignal,
  partial = false,
): Promise<{ text: string; complete: boolean }> {
  if (!response.body) return { text: "", complete: true };
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  try {
    while (true) {
      const { done, value } = await orAbort(reader.read(), signal);
      if (done) return { text: text + decoder.decode(), complete: true };
      size += value.byteLength;
      text += decoder.decode(value, { stream: true });
      if (size >= limit) {
        discard(reader);
        return { text, complete: false };
      }
    }
  } catch (error) {
    discard(reader);
    if (partial) return { text, complete: false };
    throw error;
  }
}

/** How long the rest of an error's body is waited for. */
const errorBodyPatience = 2_000;

/**
 * The text of an error's body, as far as it comes in two seconds. The status is what counts: a body that stalls or
 * breaks must neither hold it back nor hide it.
 */
export async function readErrorText(
  response: Response,
  limit: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<{ text: string; complete: boolean }> {
  const patience = follow(signal);
  const timer = clock.setTimeout(() => patience.abort(), errorBodyPatience);
  try {
    return await readText(response, limit, patience.signal, true);
  } finally {
    clock.clearTimeout(timer);
    patience.release();
  }
}

/** Ends a body that nobody will read, so that its connection is free again; its own failure to end is of no interest. */
export function discard(body: { cancel(reason?: unknown): Promise<void> } | null | undefined): void {
  body?.cancel().catch(() => {});
}
