import type { BodySource } from "../body-source.ts";
import type { ResolvedOptions } from "../emulator-options.ts";
import { type Answer, type IncomingRequest, isSource, type Outcome } from "../exchange.ts";
import { ownFailure } from "../failed-response.ts";

function withCode(message: string, code: string, more: Record<string, unknown> = {}): Error {
  return Object.assign(new Error(message), { code, ...more });
}

/** The error of `fetch` when the connection is reset before an answer. */
export function connectionReset(): TypeError {
  const cause = withCode("read ECONNRESET", "ECONNRESET", { errno: -104, syscall: "read" });
  return new TypeError("fetch failed", { cause });
}

/** The error of `fetch` for an unknown host. Its message names the hosts that the emulator answers for. */
export function unknownHost(hostname: string, known: readonly string[]): TypeError {
  const more = { errno: -3008, syscall: "getaddrinfo", hostname };
  return new TypeError("fetch failed", {
    cause: withCode(
      `getaddrinfo ENOTFOUND ${hostname} (the emulator answers for ${known.join(" and ")})`,
      "ENOTFOUND",
      more,
    ),
  });
}

/** The error of reading a body when the connection breaks. */
export function terminated(): TypeError {
  const cause = withCode("other side closed", "UND_ERR_SOCKET");
  cause.name = "SocketError";
  return new TypeError("terminated", { cause });
}

type Handle = (request: IncomingRequest) => Promise<Outcome>;

/** The part of the emulator that a URL belongs to; `undefined` for other hosts. */
function locate(url: URL, options: ResolvedOptions): Pick<IncomingRequest, "realm" | "target"> | undefined {
  if (url.origin === options.artifactsOrigin)
    return { realm: "artifacts", target: url.pathname + url.search };
  if (url.origin !== options.origin || !url.pathname.startsWith(`${options.basePath}/`)) return undefined;
  return { realm: "api", target: url.pathname.slice(options.basePath.length) + url.search };
}

/** Rejects with the signal's reason as soon as it aborts. */
function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** A web stream that pulls one chunk at a time from a source, and none before the reader asks. */
function toStream(source: BodySource, signal: AbortSignal): ReadableStream<Uint8Array> {
  let abort = () => {};
  let over = false;
  const leave = () => {
    over = true;
    signal.removeEventListener("abort", abort);
  };
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        abort = () => {
          over = true;
          source.close();
          controller.error(signal.reason);
        };
        if (signal.aborted) abort();
        else signal.addEventListener("abort", abort, { once: true });
      },
      async pull(controller) {
        const step = await source.next();
        if (over) return;
        if (step.kind === "bytes") return controller.enqueue(step.bytes);
        leave();
        if (step.kind === "end" || step.clean) controller.close();
        else controller.error(terminated());
      },
      cancel() {
        leave();
        source.close();
      },
    },
    { highWaterMark: 0 },
  );
}

const bodyless = new Set([101, 204, 205, 304]);

function toResponse(answer: Answer, url: string, signal: AbortSignal, redirected: boolean): Response {
  try {
    return buildResponse(answer, url, signal, redirected);
  } catch (error) {
    return buildResponse(ownFailure(error), url, signal, redirected);
  }
}

function buildResponse(answer: Answer, url: string, signal: AbortSignal, redirected: boolean): Response {
  const { status, headers } = answer;
  let body: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer> | null = null;
  if (bodyless.has(status)) {
    if (isSource(answer.body)) answer.body.close();
  } else {
    body = isSource(answer.body) ? toStream(answer.body, signal) : (answer.body as Uint8Array<ArrayBuffer>);
  }
  const response = new Response(body, { status, headers });
  // A constructed Response has no URL. The properties are configurable because older versions of msw set them again.
  Object.defineProperties(response, {
    url: { value: url, configurable: true },
    redirected: { value: redirected, configurable: true },
  });
  return response;
}

/** Answers one request without following redirects. @internal */
export async function fetchOnce(
  request: Request,
  body: Uint8Array,
  signal: AbortSignal,
  options: ResolvedOptions,
  handle: Handle,
): Promise<{ answer: Answer; url: string }> {
  const url = new URL(request.url);
  const place = locate(url, options);
  if (place === undefined) throw unknownHost(url.hostname, [options.origin, options.artifactsOrigin]);
  const outcome = await unlessAborted(
    signal,
    handle({
      ...place,
      method: request.method,
      url: request.url,
      headers: [...request.headers],
      body,
      artifactsOrigin: options.artifactsOrigin,
      signal,
    }),
  );
  if (outcome.kind === "answer") return { answer: outcome.answer, url: request.url };
  if (outcome.kind === "dropped") throw connectionReset();
  return unlessAborted(signal, new Promise<never>(() => {}));
}

/** The request that follows a redirect, as browsers and undici build it. */
function redirectRequest(request: Request, body: Uint8Array, status: number, target: URL): Request {
  const toGet = status === 303 ? request.method !== "HEAD" : status <= 302 && request.method === "POST";
  const headers = new Headers(request.headers);
  if (target.origin !== new URL(request.url).origin) headers.delete("authorization");
  if (toGet) headers.delete("content-type");
  const method = toGet ? "GET" : request.method;
  const payload = method === "GET" || body.length === 0 ? {} : { body: body as Uint8Array<ArrayBuffer> };
  return new Request(target, { method, headers, ...payload });
}

/** Creates a `fetch` that is answered in memory. @internal */
export function createFetch(options: ResolvedOptions, handle: Handle): typeof globalThis.fetch {
  return async (input, init) => {
    // In jsdom a signal is of another realm, and `Request` rejects it.
    const { signal: given, ...rest } = init ?? {};
    const first = new Request(input, rest);
    const signal = given ?? first.signal;
    if (signal.aborted) throw signal.reason;
    let request = first;
    let body = new Uint8Array(await unlessAborted(signal, first.arrayBuffer()));
    for (let hops = 0; hops <= 20; hops++) {
      const { answer, url } = await fetchOnce(request, body, signal, options, handle);
      const location = answer.headers.find(([name]) => name.toLowerCase() === "location")?.[1];
      const isRedirect = [301, 302, 303, 307, 308].includes(answer.status) && location !== undefined;
      if (!isRedirect || first.redirect === "manual") return toResponse(answer, url, signal, hops > 0);
      if (isSource(answer.body)) answer.body.close();
      if (first.redirect === "error") break;
      request = redirectRequest(request, body, answer.status, new URL(location, url));
      if (request.method === "GET") body = new Uint8Array();
    }
    throw new TypeError("fetch failed", { cause: new Error("unexpected redirect") });
  };
}
