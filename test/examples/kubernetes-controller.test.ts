import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { BatchV1Api, KubeConfig, type V1Job } from "@kubernetes/client-node";
import { Cursor } from "cursor-cloud-agents";
import { afterEach, expect, it, vi } from "vitest";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { runKubernetesController } from "./kubernetes-controller/controller.ts";

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

/** As much of a Kubernetes API server as takes Jobs; `refuse` answers the next one with 403. */
async function stubCluster() {
  const jobs = new Map<string, V1Job>();
  const cluster = { jobs, paths: new Set<string>(), conflicts: 0, refuse: false };
  const server = createServer(async (request, response) => {
    const job = (await json(request)) as V1Job;
    const name = job.metadata?.name ?? "";
    cluster.paths.add(`${request.method} ${request.url}`);
    const status = cluster.refuse ? 403 : jobs.has(name) ? 409 : 201;
    cluster.refuse = false;
    if (status === 409) cluster.conflicts++;
    if (status === 201) jobs.set(name, job);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(status === 201 ? job : { kind: "Status", status: "Failure", code: status }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUp.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const config = new KubeConfig();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  config.loadFromClusterAndUser({ name: "stub", server: url, skipTLSVerify: true }, { name: "stub" });
  return { cluster, batch: config.makeApiClient(BatchV1Api) };
}

async function stage() {
  const emulator = checkedEmulator();
  const { cluster, batch } = await stubCluster();
  const lines: string[] = [];
  const cursor = () => new Cursor({ apiKey: "sa_service", fetch: emulator.fetch });
  const run = () => {
    const stopping = new AbortController();
    const done = runKubernetesController({
      cursor: cursor(),
      batch,
      namespace: "agents",
      pool: "gpu",
      name: "cursor-worker",
      image: "registry.example/worker:1",
      secret: "cursor",
      log: (line) => lines.push(line),
      signal: stopping.signal,
    });
    cleanUp.push(() => {
      stopping.abort();
      return done;
    });
  };
  const sent = (operationId: string) =>
    emulator.requests.filter((request) => request.operationId === operationId).length;
  return { emulator, cluster, lines, cursor, run, sent };
}

it("the Kubernetes controller makes a Job per request, which names its worker and its pool", async () => {
  const { emulator, cluster, lines, run } = await stage();
  emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
  emulator.workers.addRequest({ id: "bc-other", pool: "cpu" });
  run();
  await vi.waitFor(() => expect(lines).toHaveLength(1), { interval: 5 });
  const workerId = emulator.workers.requests[0]?.claimedWorkerId ?? "";
  expect(workerId).toMatch(/^cursor-worker-[\da-f-]{36}$/);
  expect([...cluster.paths]).toEqual(["POST /apis/batch/v1/namespaces/agents/jobs"]);
  expect([...cluster.jobs.keys()]).toEqual([workerId]);
  const job = cluster.jobs.get(workerId);
  expect(job?.metadata).toMatchObject({
    labels: { "app.kubernetes.io/managed-by": "cursor-worker" },
    annotations: { "cursor-pool": "gpu", "cursor-request": "bc-1" },
  });
  expect(job?.spec?.template.spec?.containers[0]).toMatchObject({
    image: "registry.example/worker:1",
    env: [
      { name: "CURSOR_AGENT_WORKER_ID", value: workerId },
      { name: "WORKER_POOL", value: "gpu" },
      { name: "CURSOR_API_KEY", valueFrom: { secretKeyRef: { name: "cursor", key: "api-key" } } },
    ],
  });
  emulator.workers.connectWorker({ workerId });
  expect(emulator.workers.requests.map(({ state }) => state)).toEqual(["running", "pending"]);
});

it("two replicas of the Kubernetes controller revive a worker with one Job: a conflict counts as started", async () => {
  const { emulator, cluster, lines, cursor, run, sent } = await stage();
  const workerId = "cursor-worker-1";
  emulator.workers.addPool({ poolName: "gpu", offlineReconnectTimeoutSeconds: 900 });
  for (const [id, worker] of [
    ["bc-1", workerId],
    ["bc-2", "another-controllers-1"],
  ] as const) {
    emulator.workers.addRequest({ id, pool: "gpu" });
    await cursor().workers.claims.create({ id, workerId: worker });
    emulator.workers.connectWorker({ workerId: worker });
    emulator.workers.endTurn(id);
    emulator.workers.disconnectWorker(worker);
    emulator.workers.followUp(id);
  }
  run();
  run();
  await vi.waitFor(() => expect(lines).toHaveLength(2), { interval: 5 });
  expect(lines.sort()).toEqual([`${workerId} is there already for bc-1`, `${workerId} revived for bc-1`]);
  expect([[...cluster.jobs.keys()], cluster.conflicts, sent("releaseClaim")]).toEqual([[workerId], 1, 0]);
});

it("the Kubernetes controller gives back what the cluster refuses", async () => {
  const { emulator, cluster, lines, run, sent } = await stage();
  emulator.workers.addRequest({ id: "bc-1", pool: "gpu" });
  cluster.refuse = true;
  run();
  await vi.waitFor(() => expect(sent("releaseClaim")).toBe(1), { interval: 5 });
  await vi.waitFor(() => expect(emulator.workers.requests[0]?.state).toBe("pending"), { interval: 5 });
  expect([lines[0], cluster.jobs.size]).toEqual([expect.stringContaining("403"), 0]);
});
