import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Cursor } from "cursor-cloud-agents";
import { expect, it } from "vitest";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { decide, readLoad } from "./autoscaler/autoscaler.ts";

const main = fileURLToPath(new URL("./autoscaler/main.ts", import.meta.url));
const tsx = fileURLToPath(import.meta.resolve("tsx"));

it("the autoscaler reads the whole queue, and leaves out what waits for a worker of its own", async () => {
  const emulator = checkedEmulator();
  const cursor = new Cursor({ apiKey: "sa_service", fetch: emulator.fetch });
  expect(await readLoad(cursor)).toEqual({ connected: 0, inUse: 0, waiting: 0 });

  for (let number = 0; number < 120; number++)
    emulator.workers.addRequest({ id: `bc-${number}`, pool: "gpu" });
  emulator.workers.addPool({ poolName: "cpu", offlineReconnectTimeoutSeconds: 900 });
  for (const [id, workerId] of [
    ["bc-busy", "pw_busy"],
    ["bc-offline", "pw_offline"],
  ] as const) {
    emulator.workers.addRequest({ id, pool: "cpu" });
    await cursor.workers.claims.create({ id, workerId });
    emulator.workers.connectWorker({ workerId });
  }
  emulator.workers.endTurn("bc-offline");
  emulator.workers.disconnectWorker("pw_offline");
  emulator.workers.followUp("bc-offline");
  emulator.workers.connectWorker({ workerId: "pw_idle", pool: "gpu" });
  expect(emulator.workers.requests.at(-1)?.state).toBe("claimed_offline");
  expect(await readLoad(cursor)).toEqual({ connected: 2, inUse: 1, waiting: 120 });
});

it.each([
  ["up, to the maximum", { connected: 2, inUse: 1, waiting: 120 }, { action: "scale up", by: 8 }],
  ["up, to the minimum", { connected: 0, inUse: 0, waiting: 0 }, { action: "scale up", by: 2 }],
  ["up, for those that wait", { connected: 4, inUse: 4, waiting: 2 }, { action: "scale up", by: 3 }],
  ["nowhere", { connected: 5, inUse: 3, waiting: 1 }, { action: "keep" }],
  ["down, but for the spare", { connected: 8, inUse: 3, waiting: 0 }, { action: "scale down", by: 4 }],
  ["down, but for those in use", { connected: 14, inUse: 12, waiting: 9 }, { action: "scale down", by: 2 }],
] as const)("the autoscaler scales %s", (_, load, decision) => {
  expect(decide(load, { min: 2, max: 10, spare: 1 })).toEqual(decision);
});

it("the autoscaler prints its decision", async () => {
  const emulator = checkedEmulator();
  emulator.workers.addRequest();
  const server = await emulator.listen();
  try {
    const { stdout } = await promisify(execFile)(process.execPath, ["--import", tsx, main, "0", "5", "1"], {
      env: { PATH: process.env["PATH"] ?? "", CURSOR_API_KEY: "sa_service", CURSOR_BASE_URL: server.url },
    });
    expect(stdout).toBe("scale up by 2: 0 of 0 workers in use, 1 requests waiting\n");
  } finally {
    await server.close();
  }
});
