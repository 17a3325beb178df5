import type { ResolvedOptions } from "../emulator-options.ts";

/**
 * A request handler for the caller's own msw 2. msw's class has private members, so only `any` is one without msw's types,
 * which must not be needed by those who don't use it.
 */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type MswRequestHandler = any;

interface RunArguments {
  request: Request;
  requestId: string;
}

/**
 * msw copies each response for its own events and never reads the copy of a stream. A copied stream can't tell that its
 * reader has left, so event streams are not copied here: the copy is empty.
 */
function withoutCopies(response: Response): Response {
  const { body } = response;
  if (body === null || response.headers.get("content-type") !== "text/event-stream") return response;
  const head = { status: response.status, headers: response.headers };
  Object.defineProperty(response, "clone", { value: () => new Response(null, head) });
  Object.defineProperty(body, "tee", { value: () => [body, new Response("").body] });
  return response;
}

/** Answers a request as `fetch` does, from its rejections on: msw tells a failed connection by `Response.error()`. */
async function respond(fetch: typeof globalThis.fetch, request: Request): Promise<Response> {
  try {
    const once = new Request(request.clone(), { redirect: "manual" });
    return withoutCopies(await fetch(once, { signal: request.signal }));
  } catch (error) {
    // A caller who has left was told so by msw itself: what comes after is not heard.
    if (request.signal.aborted) return Response.error();
    if (error instanceof TypeError && error.message === "fetch failed") return Response.error();
    throw error;
  }
}

/**
 * A handler in the form msw asks of its handlers. It is made by hand, so that neither msw nor a copy of it is a part of this
 * package: all msw 2 does with a handler is to sort it by `kind` (`__kind` in older ones) and to call `run`.
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
