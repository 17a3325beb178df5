import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { BodySource } from "../body-source.ts";
import { checkOptions, name, type OptionTable, whole } from "../check-options.ts";
import {
  type Answer,
  type HeaderEntries,
  type IncomingRequest,
  isSource,
  type Outcome,
} from "../exchange.ts";
import { ownFailure } from "../failed-response.ts";

/** Where to listen. */
export interface ListenOptions {
  /** @default a free port */
  port?: number;
  /** Port of the artifact storage. @default a free port */
  artifactsPort?: number;
  /**
   * Address to listen at; `"0.0.0.0"` or `"::"` for every address of this machine. Presigned URLs then have the host name that
   * the request had in its `Host` header. @default "127.0.0.1"
   */
  hostname?: string;
}

const listenOptions: OptionTable<ListenOptions> = {
  port: whole(0, 65_535),
  artifactsPort: whole(0, 65_535),
  hostname: name,
};

/** An emulator that serves over HTTP. */
export interface EmulatorServer extends AsyncDisposable {
  /** Base URL of the API on this machine: pass it as the client's `baseUrl`. */
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

/** Which of the two servers has the request, and where both are reached from this machine. */
interface Place {
  realm: IncomingRequest["realm"];
  url: string;
  artifactsUrl: string;
}

/** The origin as the sender of a request reaches it: under the host name in its `Host` header. */
function atHost(origin: string, host: string | undefined): string {
  const [, hostname] = /^(\[[\da-f:.]+\]|[\w.-]+)(?::\d+)?$/i.exec(host ?? "") ?? [];
  return hostname === undefined ? origin : `http://${hostname}:${new URL(origin).port || 80}`;
}

async function serve(
  message: IncomingMessage,
  response: ServerResponse,
  place: Place,
  handle: Handle,
): Promise<void> {
  const left = new AbortController();
  response.once("close", () => left.abort());
  const body = await readBody(message);
  const target = message.url ?? "/";
  const outcome = await handle({
    realm: place.realm,
    artifactsOrigin: atHost(place.artifactsUrl, message.headers.host),
    method: message.method ?? "GET",
    target,
    url: (place.realm === "api" ? atHost(place.url, message.headers.host) : place.artifactsUrl) + target,
    headers: entriesOf(message),
    body,
    signal: left.signal,
  });
  if (outcome.kind === "dropped") message.socket.resetAndDestroy();
  else if (outcome.kind === "answer") await send(response, outcome.answer);
}

/** The addresses that mean every address of this machine, and the one of them that is surely reachable from it. */
const wildcards: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

function originOf(server: Server, address: string): string {
  const { port } = server.address() as AddressInfo;
  const hostname = wildcards[address] ?? address;
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
  checkOptions("CursorEmulator: listen", options, listenOptions);
  const { port = 0, artifactsPort = 0, hostname = "127.0.0.1" } = options;
  const api = createServer();
  const artifacts = createServer();
  await open(api, port, hostname);
  try {
    await open(artifacts, artifactsPort, hostname);
  } catch (error) {
    await shut(api);
    throw error;
  }
  const url = originOf(api, hostname);
  const artifactsUrl = originOf(artifacts, hostname);
  const on = (server: Server, realm: IncomingRequest["realm"]) =>
    server.on("request", (message, response) => {
      serve(message, response, { realm, url, artifactsUrl }, handle).catch((error: unknown) => {
        if (response.headersSent) response.destroy();
        else void send(response, ownFailure(error));
      });
    });
  on(api, "api");
  on(artifacts, "artifacts");
  const close = async () => {
    await Promise.all([shut(api), shut(artifacts)]);
  };
  return { url, artifactsUrl, close, [Symbol.asyncDispose]: close };
}
