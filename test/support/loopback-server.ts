import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Cursor, type CursorOptions } from "cursor-cloud-agents";
import { onTestFinished } from "vitest";
import { key } from "./sample-run.ts";

/** A request as it arrived over a socket. */
export interface Arrived {
  method: string;
  target: string;
  headers: IncomingMessage["headers"];
  body: string;
}

/** A server on a loopback port of its own, closed when the test ends. */
export async function listen(handler: (request: Arrived, response: ServerResponse, count: number) => void) {
  const requests: Arrived[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(async (message, response) => {
    let body = "";
    for await (const chunk of message) body += chunk;
    const request = {
      method: message.method ?? "",
      target: message.url ?? "",
      headers: message.headers,
      body,
    };
    requests.push(request);
    handler(request, response, requests.length);
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const cursor = (options: CursorOptions = {}) =>
    new Cursor({ apiKey: key, baseUrl: origin, random: () => 0, ...options });
  return { origin, port, requests, cursor };
}

/** Answers with JSON over a socket. */
export const send = (response: ServerResponse, status: number, body: unknown) =>
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
