import type { IncomingMessage, RequestListener } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream as NodeStream } from "node:stream/web";

/** Turns a handler of web requests, as Hono, Next, Workers, Bun and Deno have them, into a listener of node:http. */
export function toListener(handle: (request: Request) => Promise<Response>): RequestListener {
  return async (incoming, outgoing) => {
    const left = new AbortController();
    outgoing.once("close", () => left.abort());
    try {
      const response = await handle(toRequest(incoming, left.signal));
      outgoing.writeHead(response.status, [...response.headers].flat());
      await pipeline(
        response.body ? Readable.fromWeb(response.body as NodeStream) : Readable.from([]),
        outgoing,
      );
    } catch {
      // Too late for an answer where one has begun: cut off, it can't be taken for a whole one.
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(500).end();
    }
  };
}

function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request {
  const { method = "GET", headers } = incoming;
  const pairs = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  );
  const hasBody = method !== "GET" && method !== "HEAD";
  const body = hasBody ? { body: Readable.toWeb(incoming) as ReadableStream, duplex: "half" as const } : {};
  return new Request(`http://${headers.host}${incoming.url}`, { method, headers: pairs, signal, ...body });
}
