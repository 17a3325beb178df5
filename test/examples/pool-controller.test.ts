import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Cursor } from "cursor-cloud-agents";
import { expect, it } from "vitest";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { runPoolController } from "./pool-controller/controller.ts";

const path = (name: string) => fileURLToPath(new URL(`./pool-controller/${name}`, import.meta.url));
const tsx = fileURLToPath(import.meta.resolve("tsx"));

it("the pool controller starts a process per request, and ends them when it is asked to stop", async () => {
  const emulator = checkedEmulator();
  emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
  emulator.workers.addRequest({ id: "bc-2", pool: "gpu" });
  emulator.workers.addRequest({ id: "bc-other", pool: "cpu" });
  const server = await emulator.listen();
  const controller = spawn(
    process.execPath,
    ["--import", tsx, path("main.ts"), "gpu", process.execPath, path("worker.mjs")],
    {
      env: { PATH: process.env["PATH"] ?? "", CURSOR_API_KEY: "sa_service", CURSOR_BASE_URL: server.url },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const exit = once(controller, "exit");
  try {
    const lines: string[] = [];
    const states: (string | undefined)[][] = [];
    // The workers write to the same output: what they say, the emulator is told.
    for await (const line of createInterface({ input: controller.stdout })) {
      lines.push(line);
      const [word, workerId = ""] = line.split(" ");
      if (word === "connect") emulator.workers.connectWorker({ workerId });
      if (word === "disconnect") emulator.workers.disconnectWorker(workerId);
      if (states.length > 0 || emulator.workers.connected.length < 2 || !hasStarted(lines, 2)) continue;
      states.push(...emulator.workers.requests.map(({ id, state }) => [id, state]));
      controller.kill("SIGTERM");
    }
    expect(await exit).toEqual([0, null]);
    expect(states).toEqual([
      ["bc-1", "running"],
      ["bc-2", "running"],
      ["bc-other", "pending"],
    ]);
    expect(lines.filter((line) => line.endsWith("ended (0)"))).toHaveLength(2);
    expect(lines.at(-1)).toBe("stopped");
    expect([emulator.workers.connected, emulator.workers.watchers]).toEqual([[], 0]);
  } finally {
    controller.kill("SIGKILL");
    await server.close();
  }
});

it("the pool controller gives back what it can't start", async () => {
  const emulator = checkedEmulator();
  emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
  const stopping = new AbortController();
  const lines: string[] = [];
  await runPoolController({
    cursor: new Cursor({ apiKey: "sa_service", fetch: emulator.fetch }),
    pool: "gpu",
    name: "test",
    command: ["/no/such/program"],
    env: {},
    maxWorkers: 1,
    log: (line) => {
      lines.push(line);
      stopping.abort();
    },
    signal: stopping.signal,
  });
  expect(lines[0]).toContain("ENOENT");
  expect(emulator.workers.requests[0]).toMatchObject({ state: "pending" });
});

const hasStarted = (lines: string[], count: number) =>
  lines.filter((line) => line.includes(" started for ")).length >= count;
