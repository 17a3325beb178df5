import { createServer } from "node:net";
import { CursorEmulator, type EmulatorServer } from "cursor-cloud-agents/emulator";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isFull, MiB, program, start, until } from "./support.ts";

/** Each way, and how its promise ends. What is left then is nothing: no timer, no socket, no rejection, no process. */
const ways: [string, string][] = [
  ["wait: over", "fine"],
  ["wait: over, long before its deadline", "fine"],
  ["wait: polling, aborted", "AbortError"],
  ["wait: streaming, aborted", "TimeoutError"],
  ["wait: deadline", "timeout"],
  ["wait: a callback throws", "Error"],
  ["wait: silent server", "TimeoutError"],
  ["result: over", "fine"],
  ["result: asked and forgotten, then closed", "fine"],
  ["result: beside a reader that stands still", "fine"],
  ["result: no such run", "api"],
  ["stream: left by break", "fine"],
  ["stream: left by an error", "Error"],
  ["stream: closed under a pending read", "fine"],
  ["stream: aborted under a pending read", "TimeoutError"],
  ["stream: read to its result, not to its end", "fine"],
  ["stream: iterator dropped after the run's end", "fine"],
  ["stream: never read", "fine"],
  ["stream: text left", "fine"],
  ["stream: web stream cancelled", "fine"],
  ["stream: aborted between two tries", "TimeoutError"],
  ["download: read", "fine"],
  ["download: disposed unread", "fine"],
  ["download: left in the middle", "fine"],
  ["download: stalled and aborted", "TimeoutError"],
  ["download: stalled and late", "timeout"],
  ["download: no such file", "api"],
  ["list: first page only", "fine"],
  ["list: left in the middle", "fine"],
  ["list: aborted", "TimeoutError"],
  ["list: late", "timeout"],
  ["list: repositories, aborted", "TimeoutError"],
  ["call: aborted while it waits to retry", "AbortError"],
  ["prompt: aborted", "TimeoutError"],
];
/** In the light size one of each kind: a process takes its time to start. */
const light =
  /over, long|polling|forgotten|left by break|pending read|left in the middle|repositories|retry|none/;
const chosen = ways.filter(([way]) => isFull || light.test(way));

let file: string;
let server: EmulatorServer;
const silent = createServer((socket) => socket.on("error", () => {}));
let args: unknown[];
beforeAll(async () => {
  file = await program(new URL("children/exit.ts", import.meta.url));
  const emulator = new CursorEmulator();
  emulator.script("over", (run) => run.text("One.").finish());
  emulator.script("going", (run) => run.text("One.").hold("never"));
  const [over, going, expired] = ["over", "going", "going"].map(
    (text) => emulator.addAgent({ prompt: { text } }).run,
  );
  for (const name of ["a", "stalled"]) {
    emulator.addArtifact(over!.agentId, `artifacts/${name}`, new Uint8Array(2 * MiB));
  }
  const always = { times: Number.POSITIVE_INFINITY };
  emulator.faults.stall(({ url }) => url.includes("stalled?"), { afterBytes: 1_000, ...always });
  emulator.faults.status(({ url }) => url.endsWith("run-busy"), 429, {
    headers: { "retry-after": "50" },
    ...always,
  });
  emulator.expireStream(expired!.id);
  server = await emulator.listen();
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const { port } = silent.address() as { port: number };
  args = [server.url, `http://127.0.0.1:${port}`, { over, going, expired }];
  await until(() => emulator.runs(over!.agentId)[0]?.status === "FINISHED", "a run is over");
});
afterAll(async () => {
  await server.close();
  silent.close();
});

describe("a process that has done what it wanted", () => {
  it.concurrent.each(chosen)("ends by itself: %s", async (way, end) => {
    // Shorter than any time that the client waits for something: 60 s of silence, 50 s of Retry-After, …
    const child = start(file, [way, ...args], { patience: 15_000 });
    expect(await child.ended).toEqual({ code: 0, signal: null });
    expect(child.stderr()).toBe("");
    expect(child.lines).toEqual([{ end, left: [] }]);
  });
});
