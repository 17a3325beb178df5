import { bodyOf } from "../support/fake-api.ts";
import type { Hostile } from "./provoke.ts";

const json = (status: number, make: (quote: string) => unknown): Hostile => {
  return ({ quote }) => Response.json(make(quote), { status });
};
const raw = (status: number, make: (quote: string) => string, type = "text/plain"): Hostile => {
  return ({ quote }) => new Response(make(quote), { status, headers: { "content-type": type } });
};
/** Headers take no line breaks, and only bytes. */
const inHeader = (quote: string) => quote.replace(/[^\x20-\x7e]/g, " ").slice(0, 2_000);
const never = new Promise<never>(() => {});
const throws = (make: (sent: Parameters<Hostile>[0]) => unknown): Hostile => {
  return (sent) => {
    throw make(sent);
  };
};
const networkError = (more: object = {}) => Object.assign(new TypeError("fetch failed"), more);
/** A body that breaks with an error that says too much. */
const brokenBody = (type: string, first: (quote: string) => string): Hostile => {
  return ({ quote, request }) => {
    let isFirst = true;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (!isFirst) return controller.error(networkError({ message: `terminated ${quote}`, request }));
        isFirst = false;
        controller.enqueue(new TextEncoder().encode(first(quote)));
      },
    });
    return new Response(body, { headers: { "content-type": type } });
  };
};
const connectBody = (quote: string) => ({
  code: "resource_exhausted",
  message: `[resource_exhausted] ${quote}`,
  details: [{ debug: { details: { title: quote, additionalInfo: { operation: quote, retryAfter: "1" } } } }],
});

/** Every way to fail, each with the request quoted wherever there is room for it. */
export const failures: Record<string, Hostile> = {
  "silence before headers": ({ request }) =>
    new Promise((_, reject) => {
      request.signal.addEventListener("abort", () => reject(request.signal.reason));
    }),
  "silence of a deaf fetch": () => never,
  "silence inside a body": ({ quote }) => new Response(bodyOf([quote], "stall")),
  "a broken connection": throws(() => networkError({ cause: new Error("read ECONNRESET") })),
  "its message": throws(({ quote }) => new TypeError(`fetch failed: ${quote}`)),
  "its cause": throws(({ quote }) => networkError({ cause: new Error(quote, { cause: quote }) })),
  "its headers and config": throws(({ request, body }) =>
    networkError({ config: { headers: Object.fromEntries(request.headers), data: body, url: request.url } }),
  ),
  "its Request": throws(({ request }) => networkError({ request })),
  "its Headers in a Map": throws(({ request }) => networkError({ map: new Map([["h", request.headers]]) })),
  "a hidden field": throws(({ quote }) => Object.defineProperty(networkError(), "sent", { value: quote })),
  "a symbol": throws(({ quote }) => networkError({ [Symbol("sent")]: { quote } })),
  "its toJSON": throws(({ quote }) => networkError({ toJSON: () => ({ quote }) })),
  "a deep field": throws(({ quote }) =>
    networkError({ a: { b: { c: { d: { e: { f: { g: { quote } } } } } } } }),
  ),
  "a field beyond many": throws(({ quote }) => {
    return networkError({ many: Array.from({ length: 5_000 }, () => ({})), last: { quote } });
  }),
  "an error that is its own cause": throws(({ quote }) => {
    const error = networkError({ quote });
    error.cause = error;
    return error;
  }),
  "several errors": throws(({ quote }) => new AggregateError([new Error(quote)], quote)),
  "a wrong use": throws(({ quote, request }) => Object.assign(new RangeError(quote), { request })),
  "a name and a code": throws(({ quote }) => networkError({ name: quote, code: quote })),
  "a thrown text": throws(({ quote }) => quote),
  "a thrown object": throws(({ quote }) => ({ message: quote, quote })),
  "a thrown nothing": throws(() => undefined),
  "a thrown riddle": throws(() => Object.create(null)),
  "an error response": () => Response.error(),
  "form a": json(400, (quote) => ({ error: { code: "x", message: quote, helpUrl: quote, provider: quote } })),
  "form a, code": json(403, (quote) => ({ error: { code: quote, message: "m" } })),
  "form b": json(401, (quote) => ({ code: "error", message: quote })),
  "form c": json(429, connectBody),
  "form d": json(409, (quote) => ({ error: `Conflict: ${quote}` })),
  "form e": json(410, (quote) => ({ code: "cursor_expired", quote })),
  "form f": json(404, (quote) => ({ error: "Not Found", message: quote })),
  "form g, HTML": raw(502, (quote) => `<html>${quote}</html>`, "text/html"),
  "form g, empty with a status text": ({ quote }) =>
    new Response(null, { status: 500, statusText: inHeader(quote) }),
  "form h": json(500, (quote) => ({ code: "internal_error", message: quote })),
  "plain text": raw(500, (quote) => quote.slice(0, 290)),
  "a request id": ({ quote }) =>
    Response.json({}, { status: 500, headers: { "x-request-id": inHeader(quote) } }),
  XML: raw(400, (quote) => `<Error><Code>Denied</Code><Message>${quote}</Message></Error>`, "text/xml"),
  "an error body with its end at the cut": raw(503, (quote) => `${"x".repeat(4_090)}${quote}`),
  "an error body in hex": raw(
    500,
    (quote) => `sent ${Buffer.from(quote.split(" ")[1] ?? "").toString("hex")}`,
  ),
  "an error body in a URL": raw(500, (quote) => `sent ${encodeURIComponent(quote)}`),
  "a body nested without end": raw(400, () => `{"error":${"[".repeat(30_000)}${"]".repeat(30_000)}}`),
  "a redirect": ({ quote }) =>
    new Response(null, {
      status: 307,
      headers: { location: `https://evil.example/?${encodeURIComponent(quote)}` },
    }),
  "a redirect to a telling host": ({ body }) => {
    const host = body.includes("mcp-header-hush") ? "mcp-header-hush" : "evil";
    return new Response(null, { status: 302, headers: { location: `https://${host}.example/` } });
  },
  "200, HTML": raw(200, (quote) => `<html>${quote}</html>`, "text/html"),
  "200, half JSON": raw(200, (quote) => JSON.stringify({ quote }).slice(0, -1), "application/json"),
  "200, a list": json(200, (quote) => [quote]),
  "200, a telling content type": ({ quote }) =>
    new Response("x", { headers: { "content-type": `text/${inHeader(quote)}` } }),
  "a JSON body that breaks": brokenBody("application/json", (quote) => quote),
  "an event stream that breaks": brokenBody(
    "text/event-stream",
    () => "id: 1\nevent: heartbeat\ndata: {}\n\n",
  ),
  "an error event": ({ quote }) => {
    const frame = `event: error\ndata: ${JSON.stringify({ code: quote, message: quote })}\n\n`;
    return new Response(bodyOf([frame]), { headers: { "content-type": "text/event-stream" } });
  },
  "an event too large": ({ quote, request }) => {
    const isStream = request.headers.get("accept") === "text/event-stream";
    const body = bodyOf([`data: ${quote}`, "x".repeat(isStream ? 33 * 1024 * 1024 : 10)]);
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  },
};
