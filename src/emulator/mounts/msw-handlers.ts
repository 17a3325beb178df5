import type { ResolvedOptions } from "../emulator-options.ts";

/**
 * A request handler for the caller's own msw 2. The class of msw has private members, so without the types of msw, which
 * users without msw must not need, only `any` is assignable to it.
 */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type MswRequestHandler = any;

interface RunArguments {
  request: Request;
  requestId: string;
}

/**
 * msw copies each response for its own events and never reads the copy of a stream. A copied stream does not notice when
 * its reader cancels, so event streams are not copied here: the copy is empty.
 */
function withoutCopies(response: Response): Response {
  const { body } = response;
  if (body === null || response.headers.get("content-type") !== "text/event-stream") return response;
  const head = { status: response.status, headers: response.headers };
  Object.defineProperty(response, "clone", { value: () => new Response(null, head) });
  Object.defineProperty(body, "tee", { value: () => [body, new Response("").body] });
  return response;
}

/** Answers a request as `fetch` does. For a failed connection msw expects `Response.error()`. */
async function respond(fetch: typeof globalThis.fetch, request: Request): Promise<Response> {
  try {
    const once = new Request(request.clone(), { redirect: "manual" });
    return withoutCopies(await fetch(once, { signal: request.signal }));
  } catch (error) {
    // msw has rejected an aborted request itself, so this response is ignored.
    if (request.signal.aborted) return Response.error();
    if ((error as Partial<Error>)?.message === "fetch failed") return Response.error();
    throw error;
  }
}

/**
 * A handler in the form that msw expects. It is built by hand, so that neither msw nor a copy of it is part of this
 * package: msw 2 only sorts handlers by `kind` (`__kind` in older versions) and calls `run`.
 */
function createHandler(header: string, matches: (url: URL) => boolean, fetch: typeof globalThis.fetch) {
  const predicate = ({ request }: { request: Request }) => matches(new URL(request.url));
  return {
    kind: "request",
    __kind: "RequestHandler",
    info: { header },
    isUsed: false,
    predicate,
    test: async (args: { request: Request }) => predicate(args),
    parse: async () => ({}),
    log: () => {},
    reset: () => {},
    restore: () => {},
    async run({ request, requestId }: RunArguments) {
      if (!predicate({ request })) return null;
      const mine = request.clone();
      this.isUsed = true;
      return { handler: this, request, requestId, parsedResult: {}, response: await respond(fetch, mine) };
    },
  };
}

/** Handlers for the API and for the artifact storage. @internal */
export function createHandlers(
  options: ResolvedOptions,
  fetch: typeof globalThis.fetch,
): MswRequestHandler[] {
  const api = (url: URL) => url.origin === options.origin && url.pathname.startsWith(`${options.basePath}/`);
  return [
    createHandler(`* ${options.origin}${options.basePath}/*`, api, fetch),
    createHandler(`* ${options.artifactsOrigin}/*`, (url) => url.origin === options.artifactsOrigin, fetch),
  ];
}
