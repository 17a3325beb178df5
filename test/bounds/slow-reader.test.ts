import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { floodServer, head, isFull, MiB, program, start, steady, until } from "./support.ts";

const total = 200 * MiB;
/** What kernels keep for a connection on the way, both sides together. */
const kernelBuffers = 12 * MiB;
const text = "x".repeat(200);
const frame = `id: 1\nevent: assistant\ndata: ${JSON.stringify({ text })}\n\n`;

let file: string;
let server: Awaited<ReturnType<typeof floodServer>>;
beforeAll(async () => {
  file = await program(new URL("children/slow-reader.ts", import.meta.url));
  server = await floodServer((target, origin) => {
    if (target.endsWith("/stream")) {
      return { head: head("200 OK", { "content-type": "text/event-stream" }), piece: frame, limit: total };
    }
    if (target.includes("/artifacts/download")) {
      const address = JSON.stringify({ url: `${origin}${target.replace(/\/v1.*/, "/file")}`, expiresAt: "" });
      const type = { "content-type": "application/json", "content-length": String(address.length) };
      return { head: head("200 OK", type) + address };
    }
    return { head: head("200 OK", { "content-length": String(total) }), piece: text, limit: total };
  });
});
afterAll(() => server.close());

const ways = ["iteration", "web stream", "unread download"];
if (isFull) ways.push("text", "left iterator", "download");

describe("a reader that stops reading", () => {
  it.each(ways)("holds the server back, costs nothing, and gives its socket back: %s", async (way) => {
    const name = way.replace(" ", "-");
    const child = start(file, [`${server.origin}/${name}`, way], { flags: ["--expose-gc"] });
    try {
      await until(() => child.lines.length === 1 || child.process.exitCode !== null, "it reads");
      const accepted = await steady(() => server.place(name).accepted);
      expect(accepted).toBeGreaterThan(0);
      expect(accepted).toBeLessThan(kernelBuffers);
      child.process.stdin?.write("rested\n");
      await until(() => child.lines.length === 2, "it rests");
      expect(child.lines[1].grown).toBeLessThan(4 * MiB);
      // Held back for good, not only slowed down.
      expect(server.place(name).accepted).toBe(accepted);
      expect(server.place(name).open.size).toBeGreaterThan(0);
      child.process.stdin?.write("close\n");
      await until(() => child.lines.length === 3, "it closes");
      expect(child.lines[2].resources).toEqual([]);
      await until(() => server.place(name).open.size === 0, "the server sees the socket closed");
      expect(await child.ended).toEqual({ code: 0, signal: null });
      expect(child.stderr()).toBe("");
    } finally {
      child.process.kill("SIGKILL");
    }
  });
});
