import { type Clock, onAbort } from "../async.ts";

/** Receives a callback that ends the reading at once; may return a function, which is called when the reading is over. */
type Stopper = (stop: () => void) => (() => void) | undefined | void;

/**
 * Reads a body as text, and stops after about `limit` bytes. When `onStop` stops it, the body is cancelled here, because a
 * custom fetch may ignore the signal once it has responded.
 * @param partial Whether a body that breaks off resolves with what has arrived, instead of rejecting
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
    release?.();
  }
}

const decoder = new TextDecoder();

/** Decodes all chunks at once, because engines decode one large text much faster than many small pieces. */
function decode([first, ...others]: Uint8Array[], size: number): string {
  if (!first || others.length === 0) return decoder.decode(first);
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const chunk of [first, ...others]) {
    whole.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return decoder.decode(whole);
}

/** How long to wait for the rest of an error body, in milliseconds. */
const errorBodyTimeout = 2_000;

/**
 * Reads as much of an error body as arrives within two seconds. The status is what matters: a body that stalls or breaks
 * must neither delay it nor hide it.
 */
export function readErrorText(
  response: Response,
  limit: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<{ text: string; complete: boolean }> {
  const onStop: Stopper = (stop) => {
    const timer = clock.setTimeout(stop, errorBodyTimeout);
    const release = onAbort(signal, stop);
    return () => {
      clock.clearTimeout(timer);
      release();
    };
  };
  return readText(response, limit, onStop, true);
}

/** The JSON object that a body must be; undefined where the text is anything else. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && !Array.isArray(value) ? ((value ?? undefined) as never) : undefined;
  } catch {
    return undefined;
  }
}

/** Cancels a body that will not be read, which frees its connection. A failure to cancel it is ignored. */
export function discard(body: { cancel(reason?: unknown): Promise<void> } | null | undefined): void {
  body?.cancel().catch(() => {});
}

/** The id of the request that the server put into its response: what support asks for. */
export const requestIdOf = ({ headers }: Response): string | undefined =>
  headers.get("x-request-id") ?? undefined;

const httpDate = /^[A-Z][a-z]{2,8},? .*\d\d:\d\d:\d\d/;

/**
 * The milliseconds that `Retry-After` asks for: seconds, or an HTTP date. A date is compared with the response's own
 * `Date` header, because the clocks of server and client differ. Undefined where the header is absent or unreadable.
 */
export function retryAfter(headers: Headers, now: number): number | undefined {
  const value = headers.get("retry-after")?.trim();
  if (!value) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  // Date.parse accepts nearly anything ("-5", "in 5 minutes") as a date of some year.
  const at = httpDate.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(at)) return undefined;
  const date = Date.parse(headers.get("date") ?? "");
  return Math.max(0, at - (Number.isNaN(date) ? now : date));
}
