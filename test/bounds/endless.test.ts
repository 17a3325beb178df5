import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type Child,
  type Flood,
  floodServer,
  head,
  isFull,
  MiB,
  program,
  sized,
  start,
  until,
} from "./support.ts";

const events = head("200 OK", { "content-type": "text/event-stream" });
const json = head("200 OK", { "content-type": "application/json" });
const result = 'id: 9\nevent: result\ndata: {"status":"FINISHED","text":"done"}\n\n';
const zeros = gzipSync(Buffer.alloc(MiB, "0"));

/** What the server sends, how the call must end, and how often the server may be asked. */
interface Endless {
  flood: Flood;
  ends: object;
  connections: number;
}

const tooLarge = { kind: "stream", reason: "event_too_large" };
const stream = (head: string, piece: string, ends: object = tooLarge, connections = 1): Endless => ({
  flood: { head: events + head, piece },
  ends,
  connections,
});
const refusal = (status: string, ends: object, connections: number, type = "text/plain"): Endless => ({
  flood: { head: head(status, { "content-type": type }), piece: "error " },
  ends,
  connections,
});
const headers: Flood = { head: "HTTP/1.1 200 OK\r\nx: ", piece: "x" };
const manyHeaders: Flood = { head: "HTTP/1.1 200 OK\r\n", piece: "x: y\r\n" };
const trailers: Flood = {
  head: "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n",
  piece: "x: y\r\n",
};

const answers: Record<string, Endless> = {
  "stream.no-line-end": stream("", "x"),
  "stream.one-line": stream("id: 1\nevent: tool_call\ndata: ", "x"),
  "stream.data-lines": stream("", "data: x\n"),
  "stream.long-data-lines": stream("", "data: 123456789012\n"),
  "stream.empty-data-lines": stream("", "data:\n"),
  "stream.carriage-returns": stream("", "data\r"),
  "stream.comments": stream("", ": ping\n"),
  "stream.comment-blocks": stream("", ": ping\n\n"),
  "stream.ids": stream("", "id: 1\n\n"),
  "stream.blank-lines": stream("", "\n"),
  "stream.unknown-fields": stream("", "this is no event stream\n"),
  "stream.small-limit": stream("", "data: x\n"),
  // In good order, and yet without end: memory stays as it is until the caller has enough.
  "stream.heartbeats": stream("", 'id: 1\nevent: thinking\ndata: {"text":"x"}\n\n', { name: "AbortError" }),
  "stream.reply": stream("", 'id: 1\nevent: assistant\ndata: {"text":"x"}\n\n', { name: "AbortError" }),
  "stream.unwanted": stream("", "id: 1\nevent: interaction_update\ndata: {}\n\n", { name: "AbortError" }),
  // Nothing that matters follows the result, whatever comes.
  "stream.heartbeats-after-result": stream(result, "event: heartbeat\ndata: {}\n\n", { kind: "fine" }),
  "stream.small-line-after-result": stream(result, "x", { kind: "fine" }),
  // Three tries, and a look at the run.
  "stream.refused": refusal("500 Oh", { kind: "api", status: 500 }, 4),
  "stream.refused-oddly": refusal("999 Oh", { kind: "api", status: 999 }, 4),
  "stream.no-stream": refusal("200 OK", { kind: "stream", reason: "disconnected" }, 4),
  "stream.headers": { flood: headers, ends: { kind: "stream", reason: "disconnected" }, connections: 4 },
  "json.spaces": { flood: { head: json, piece: " " }, ends: { code: "invalid_response" }, connections: 1 },
  "json.text": { flood: { head: json, piece: "北" }, ends: { code: "invalid_response" }, connections: 1 },
  "json.packed": {
    flood: { head: head("200 OK", { "content-encoding": "gzip" }), piece: zeros },
    ends: { code: "invalid_response" },
    connections: 1,
  },
  "json.error": refusal("503 Oh", { kind: "api", status: 503 }, 2),
  "json.odd-error": refusal("999 Oh", { kind: "api", status: 999 }, 2),
  "json.error-page": refusal("404 Oh", { kind: "api", status: 404 }, 1, "text/html"),
  "json.headers": { flood: headers, ends: { kind: "connection" }, connections: 2 },
  "json.many-headers": { flood: manyHeaders, ends: { kind: "connection" }, connections: 2 },
  "json.trailers": { flood: trailers, ends: { kind: "connection" }, connections: 2 },
  "json.hints": {
    flood: { head: "", piece: "HTTP/1.1 103 Early Hints\r\n\r\n" },
    ends: { kind: "timeout" },
    connections: 2,
  },
  "create.error": refusal("400 Oh", { kind: "api", status: 400 }, 1),
  // With the question for the address, and another when it may have expired.
  "storage.error": refusal("500 Oh", { kind: "api", status: 500 }, 3),
  "storage.refusal": refusal("403 Oh", { kind: "api", status: 403 }, 4, "application/xml"),
  "storage.no-end": {
    flood: { head: head("200 OK"), piece: "x" },
    ends: { code: "artifact_too_large" },
    connections: 2,
  },
  "storage.headers": { flood: headers, ends: { kind: "connection" }, connections: 3 },
};
/** Like others, and slow: the parser makes an Error of each line that it doesn't know. */
const onlyInFull = ["one-line", "long-data-lines", "blank-lines", "ids", "unknown-fields", "text", "packed"];
const names = Object.keys(answers).filter((name) => isFull || !onlyInFull.includes(name.split(".")[1]!));

let child: Child;
let server: Awaited<ReturnType<typeof floodServer>>;
beforeAll(async () => {
  const file = await program(new URL("children/endless.ts", import.meta.url));
  server = await floodServer((target, origin) => {
    const [, name = ""] = target.split("/");
    if (target.endsWith("/file")) return answers[name]!.flood;
    if (target.includes("/artifacts/download")) {
      const address = JSON.stringify({ url: `${origin}/${name}/file`, expiresAt: "" });
      const type = { "content-type": "application/json", "content-length": String(address.length) };
      return { head: head("200 OK", type) + address };
    }
    if (name.startsWith("stream") && !target.endsWith("/stream")) {
      const run = JSON.stringify({ id: "run-1", agentId: "bc-1", status: "RUNNING" });
      return { head: head("200 OK", { "content-length": String(run.length) }) + run };
    }
    return answers[name]!.flood;
  });
  // A quarter of what Node would take: what is kept of 32 MiB, or of 64, must not be many times as much.
  child = start(file, [server.origin, names, sized(4, 32) * MiB], {
    flags: ["--expose-gc", "--max-old-space-size=192"],
  });
  await child.ended;
}, 60_000);
afterAll(() => server.close());

describe("an answer without end", () => {
  it("never ends the process, and leaves no rejection behind", async () => {
    expect(child.stderr()).toBe("");
    expect(await child.ended).toEqual({ code: 0, signal: null });
    expect(child.lines.map(({ scenario }) => scenario)).toEqual(names);
  });

  it.each(names)("comes to an end in bounded memory: %s", async (name) => {
    const line = child.lines.find((candidate) => candidate.scenario === name);
    expect(line).toMatchObject(answers[name]!.ends);
    expect(line.grown).toBeLessThan(4 * MiB);
    expect(line.resources).toEqual([]);
    const place = server.place(name);
    await until(() => place.open.size === 0, "the server sees the sockets closed");
    expect(place.connections).toBeLessThanOrEqual(answers[name]!.connections);
  });
});
