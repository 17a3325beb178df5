import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { BodySource } from "../body-source.ts";
import {
  type Answer,
  type HeaderEntries,
  type IncomingRequest,
  isSource,
  type Outcome,
} from "../exchange.ts";

/** Where to listen. */
export interface ListenOptions {
  /** @default a free port */
  port?: number;
  /** @default "127.0.0.1" */
  hostname?: string;
}

/** An emulator that serves over HTTP. */
export interface EmulatorServer extends AsyncDisposable {
  /** Base URL of the API: pass it as the client's `baseUrl`. */
  readonly url: string;
  /** Origin of presigned artifact URLs, on a port of its own. */
  readonly artifactsUrl: string;
  /** Stops listening and destroys all open sockets. */
  close(): Promise<void>;
}

type Handle = (request: IncomingRequest) => Promise<Outcome>;

async function readBody(message: IncomingMessage): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return new Uint8Array(Buffer.concat(chunks));
}

function entriesOf(message: IncomingMessage): HeaderEntries {
  const entries: HeaderEntries = [];
  for (let at = 0; at + 1 < message.rawHeaders.length; at += 2) {
    entries.push([message.rawHeaders[at] as string, message.rawHeaders[at + 1] as string]);
  }
  return entries;
}

/** Writes a chunk and waits until the kernel has it, so that a cut right afterwards cannot drop it. */
function write(response: ServerResponse, bytes: Uint8Array): Promise<boolean> {
  return new Promise((resolve) => {
    const gone = () => resolve(false);
    if (response.destroyed) return gone();
    response.once("close", gone);
    response.write(bytes, () => {
      response.off("close", gone);
      resolve(!response.destroyed);
    });
  });
}

async function sendSource(
  response: ServerResponse,
  source: BodySource,
  declaredLength: boolean,
): Promise<void> {
  for (;;) {
    const step = await source.next();
    if (step.kind === "bytes") {
      if (!(await write(response, step.bytes))) return source.close();
    } else if (step.kind === "end") {
      response.end();
      return;
    } else if (step.clean && !declaredLength) {
      response.end();
      return;
    } else {
      // After a Content-Length, a body can only end early if the connection is destroyed.
      response.socket?.destroy();
      return;
    }
  }
}

async function send(response: ServerResponse, answer: Answer): Promise<void> {
  const { body } = answer;
  const declaredLength = answer.headers.some(([name]) => name.toLowerCase() === "content-length");
  response.writeHead(answer.status, answer.headers.flat());
  if (!isSource(body)) {
    response.end(body);
    return;
  }
  response.once("close", () => body.close());
  response.flushHeaders();
  await sendSource(response, body, declaredLength);
}

async function serve(
  message: IncomingMessage,
  response: ServerResponse,
  place: Pick<IncomingRequest, "realm" | "artifactsOrigin"> & { origin: string },
  handle: Handle,
): Promise<void> {
  const left = new AbortController();
  response.once("close", () => left.abort());
  const body = await readBody(message);
  const target = message.url ?? "/";
  const outcome = await handle({
    realm: place.realm,
    artifactsOrigin: place.artifactsOrigin,
    method: message.method ?? "GET",
    target,
    url: place.origin + target,
    headers: entriesOf(message),
    body,
    signal: left.signal,
  });
  if (outcome.kind === "dropped") message.socket.resetAndDestroy();
  else if (outcome.kind === "answer") await send(response, outcome.answer);
}

function originOf(server: Server, hostname: string): string {
  const { port } = server.address() as AddressInfo;
  return `http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}

function open(server: Server, port: number, hostname: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, hostname, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function shut(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** Serves the API and the artifact storage over HTTP, each on its own port. @internal */
export async function listen(handle: Handle, options: ListenOptions): Promise<EmulatorServer> {
  const { port = 0, hostname = "127.0.0.1" } = options;
  const api = createServer();
  const artifacts = createServer();
  await open(api, port, hostname);
  await open(artifacts, 0, hostname);
  const url = originOf(api, hostname);
  const artifactsUrl = originOf(artifacts, hostname);
  const on = (server: Server, realm: IncomingRequest["realm"], origin: string) =>
    server.on("request", (message, response) => {
      serve(message, response, { realm, artifactsOrigin: artifactsUrl, origin }, handle).catch(
        (error: unknown) => {
          if (response.headersSent) response.destroy();
          else response.writeHead(500, { "content-type": "text/plain" }).end(String(error));
        },
      );
    });
  on(api, "api", url);
  on(artifacts, "artifacts", artifactsUrl);
  const close = async () => {
    await Promise.all([shut(api), shut(artifacts)]);
  };
  return { url, artifactsUrl, close, [Symbol.asyncDispose]: close };
}
