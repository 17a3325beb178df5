import { type Failure, fail, failureOf } from "./failure.ts";

const headers = {
  "content-type": "application/json; charset=utf-8",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
};

/** An answer as JSON; not kept by anyone on the way. */
export const json = (status: number, body: unknown, more: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { ...headers, ...more } });

/** A refusal in the form that all routes share. */
export function refusal(
  { status, code, message, retryAfterMs }: Failure,
  more: Record<string, string> = {},
): Response {
  const retryAfter =
    retryAfterMs === undefined ? {} : { "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1000))) };
  return json(status, { error: { code, message } }, { ...retryAfter, ...more });
}

/** An answer without a body. */
export const empty = (status: number, more: Record<string, string> = {}): Response =>
  new Response(null, { status, headers: { "cache-control": "no-store", ...more } });

export const notFound = (): Response => refusal(fail(404, "not_found"));

/** Does a route's work; what fails is told to `onError`, and the browser hears what it may. */
export async function answer(
  { request, onError }: { request: Request; onError?: ((error: unknown) => void) | undefined },
  work: () => Promise<Response>,
): Promise<Response> {
  try {
    return await work();
  } catch (error) {
    // The browser is gone: nobody reads this. 499 is what servers write into their logs for it.
    if (request.signal?.aborted && error === request.signal.reason) return empty(499);
    report(onError, error);
    return refusal(failureOf(error));
  }
}

/** Tells the server's own code. What it does with that is no reason to fail. */
export function report(onError: ((error: unknown) => void) | undefined, error: unknown): void {
  try {
    onError?.(error);
  } catch {}
}
