/**
 * Serves a pool with Kubernetes Jobs, until SIGINT or SIGTERM; inside the cluster, or outside with a kubeconfig:
 * `CURSOR_API_KEY=… tsx main.ts POOL NAMESPACE IMAGE SECRET`, with the key of a service account.
 */
import { BatchV1Api, KubeConfig } from "@kubernetes/client-node";
import { Cursor } from "cursor-cloud-agents";
import { runKubernetesController } from "./controller.ts";

const [pool, namespace, image, secret] = process.argv.slice(2);
if (pool === undefined || namespace === undefined || image === undefined || secret === undefined) {
  process.stderr.write("usage: main.ts POOL NAMESPACE IMAGE SECRET\n");
  process.exit(2);
}

const config = new KubeConfig();
config.loadFromDefault();
const stopping = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) process.on(name, () => stopping.abort());

await runKubernetesController({
  cursor: new Cursor(),
  batch: config.makeApiClient(BatchV1Api),
  namespace,
  pool,
  name: "cursor-worker",
  image,
  secret,
  log: (line) => process.stdout.write(`${line}\n`),
  signal: stopping.signal,
});
