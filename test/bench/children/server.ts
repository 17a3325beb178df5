// A loopback server in a process of its own, so that its work is not counted: JSON, streams long and idle, a large file.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ending, frames } from "./recording.ts";
import { args, say } from "./say.ts";

const [streamBytes = 0, artifactBytes = 0] = args as number[];

/** An agent of 600 bytes. */
const agent = JSON.stringify({
  id: "bc-00000000-0000-0000-0000-000000000001",
  name: "Add a README",
  status: "ACTIVE",
  env: { type: "cloud" },
  url: "https://cursor.com/agents/bc-00000000-0000-0000-0000-000000000001",
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:00:00.000Z",
  latestRunId: "run-00000000-0000-0000-0000-000000000001",
  repos: [{ url: "https://github.com/example/example", startingRef: "main" }],
}).padEnd(600, " ");

/** Writes as fast as it is read. */
function pour(response: ServerResponse, next: () => string | Uint8Array | undefined): void {
  const piece = next();
  if (piece === undefined) return void response.end();
  response.write(piece, (error) => {
    if (!error) pour(response, next);
  });
}

function longStream(response: ServerResponse): void {
  const source = frames();
  let sent = 0;
  pour(response, () => {
    if (sent === Number.POSITIVE_INFINITY) return undefined;
    let text = "";
    while (text.length < 65_536) text += source.next().value;
    sent += text.length;
    if (sent < streamBytes) return text;
    sent = Number.POSITIVE_INFINITY;
    return text + ending();
  });
}

const block = new Uint8Array(65_536).fill(120);

function file(response: ServerResponse): void {
  let left = artifactBytes;
  response.setHeader("content-length", artifactBytes);
  response.setHeader("etag", '"1"');
  pour(response, () => {
    if (left === 0) return undefined;
    const piece = left < block.length ? block.subarray(0, left) : block;
    left -= piece.length;
    return piece;
  });
}

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://127.0.0.1");
  request.resume();
  if (pathname.endsWith("/stream")) {
    response.setHeader("content-type", "text/event-stream");
    if (pathname.includes("idle")) response.write(frames().next().value);
    else longStream(response);
  } else if (pathname === "/storage") file(response);
  else {
    response.setHeader("content-type", "application/json");
    const path = searchParams.get("path");
    if (pathname.endsWith("/artifacts/download")) {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/storage`;
      response.end(JSON.stringify({ url, expiresAt: "2126-01-01T00:00:00.000Z", path }));
    } else if (pathname.endsWith("/artifacts")) {
      const item = {
        path: "artifacts/large.bin",
        sizeBytes: artifactBytes,
        updatedAt: "2026-01-01T00:00:00.000Z",
      };
      response.end(JSON.stringify({ items: [item] }));
    } else response.end(agent);
  }
});
server.listen(0, "127.0.0.1", () => say({ port: (server.address() as AddressInfo).port }));
process.stdin.resume().on("end", () => process.exit()); // ends with its parent
