import { type Clock, onAbort } from "../async.ts";

/** Takes what ends a piece of work at once; returns what calls that off. */
type Stopper = (stop: () => void) => () => void;

/**
 * Reads a body as text, about `limit` bytes at most. Stopped, its reader is cancelled here, since a custom fetch may not
 * listen to the signal once it has answered.
 * @param partial A body that breaks off gives what came, instead of an error.
 */
export async function readText(
  response: Response,
  limit: number,
  onStop: Stopper,
  partial = false,
): Promise<{ text: string; complete: boolean }> {
  if (!response.body) return { text: "", complete: true };
  const reader = response.body.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  let isCut = false;
  const cut = () => {
    isCut = true;
    discard(reader);
  };
  const release = onStop(cut);
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done || isCut) return { text: decode(chunks, size), complete: !isCut };
      size += value.byteLength;
      chunks.push(value);
      if (size >= limit) cut();
    }
  } catch (error) {
    cut();
    if (partial) return { text: decode(chunks, size), complete: false };
    throw error;
  } finally {
    release();
  }
}

const decoder = new TextDecoder();

/** In one piece: engines have a fast way for a whole text, and a slow one for text that comes bit by bit. */
function decode([first, ...others]: Uint8Array[], size: number): string {
  if (!first || others.length === 0) return decoder.decode(first);
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of [first, ...others]) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return decoder.decode(whole);
}

/** How long the rest of an error's body is waited for. */
const errorBodyPatience = 2_000;

/**
 * The text of an error's body, as far as it comes in two seconds. The status is what counts: a body that stalls or
 * breaks must neither hold it back nor hide it.
 */
export function readErrorText(
  response: Response,
  limit: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<{ text: string; complete: boolean }> {
  const onStop: Stopper = (stop) => {
    const timer = clock.setTimeout(stop, errorBodyPatience);
    const release = onAbort(signal, stop);
    return () => {
      clock.clearTimeout(timer);
      release();
    };
  };
  return readText(response, limit, onStop, true);
}

/** Ends a body that nobody will read, so that its connection is free again; its own failure to end is of no interest. */
export function discard(body: { cancel(reason?: unknown): Promise<void> } | null | undefined): void {
  body?.cancel().catch(() => {});
}

const httpDate = /^[A-Z][a-z]{2,8},? .*\d\d:\d\d:\d\d/;

/**
 * The milliseconds that `Retry-After` asks for: seconds, or an HTTP date. A date is read against the answer's own `Date`
 * header, since the clocks of server and client differ. Undefined where the header is absent or can't be read.
 */
export function retryAfter(headers: Headers, now: number): number | undefined {
  const value = headers.get("retry-after")?.trim();
  if (!value) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  // Date.parse takes nearly anything ("-5", "in 5 minutes") for a date of some year.
  const at = httpDate.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(at)) return undefined;
  const date = Date.parse(headers.get("date") ?? "");
  return Math.max(0, at - (Number.isNaN(date) ? now : date));
}
