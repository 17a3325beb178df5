/**
 * A controller that gives each claimed request of a pool a Kubernetes Job of its own. Any number of replicas may run it:
 * a request is claimed once among them, and a Job is named after its worker, so that none is made twice.
 *
 * The role of its service account needs one permission: `create` on `jobs` in the namespace.
 */
import { randomUUID } from "node:crypto";
import { ApiException, type BatchV1Api, type V1Job } from "@kubernetes/client-node";
import type { Cursor } from "cursor-cloud-agents";
import { controlRequests } from "cursor-cloud-agents/workers";

export interface KubernetesControllerOptions {
  cursor: Cursor;
  batch: Pick<BatchV1Api, "createNamespacedJob">;
  namespace: string;
  pool: string;
  /** Begins the names of all Jobs, which are their workers' ids; the same for all replicas, at most 26 characters. */
  name: string;
  /** Its entry point starts a worker with the id, the pool and the API key of its environment. */
  image: string;
  /** The Secret whose key `api-key` holds the workers' API key. */
  secret: string;
  log(line: string): void;
  signal: AbortSignal;
}

/** Runs until `signal` aborts. The Jobs go on: they are the cluster's. */
export async function runKubernetesController(options: KubernetesControllerOptions): Promise<void> {
  const { cursor, batch, namespace, pool, name, log, signal } = options;
  const controller = controlRequests(cursor, {
    filters: { pool },
    concurrency: 10,
    claim: () => `${name}-${randomUUID()}`,
    start: async (request, { workerId, revived }) => {
      // Every controller of the pool sees a request whose worker went offline; this one knows its own by their name.
      if (revived && !workerId.startsWith(`${name}-`)) return;
      try {
        await batch.createNamespacedJob({ namespace, body: workerJob(options, workerId, request.id) });
        log(`${workerId} ${revived ? "revived" : "started"} for ${request.id}`);
      } catch (error) {
        // The Job is there already: by another replica, or because its Pod is just being restarted.
        if (!(error instanceof ApiException) || error.code !== 409) throw error;
        log(`${workerId} is there already for ${request.id}`);
      }
    },
    onError: (error, request) => log(`${request?.id ?? pool}: ${(error as Error).message}`),
    signal,
  });
  await controller.done;
}

/** The Job of one worker. */
function workerJob(
  { pool, name, image, secret }: KubernetesControllerOptions,
  workerId: string,
  requestId: string,
): V1Job {
  const labels = { "app.kubernetes.io/name": "cursor-worker", "app.kubernetes.io/managed-by": name };
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    // A pool's name may be no valid label; an annotation takes any text.
    metadata: { name: workerId, labels, annotations: { "cursor-pool": pool, "cursor-request": requestId } },
    spec: {
      backoffLimit: 3,
      // Deleted as soon as it is over: a Job that exists is one that runs, and its worker can be revived by a new one.
      ttlSecondsAfterFinished: 0,
      template: {
        metadata: { labels },
        spec: {
          restartPolicy: "OnFailure",
          containers: [
            {
              name: "worker",
              image,
              env: [
                { name: "CURSOR_AGENT_WORKER_ID", value: workerId },
                { name: "WORKER_POOL", value: pool },
                { name: "CURSOR_API_KEY", valueFrom: { secretKeyRef: { name: secret, key: "api-key" } } },
              ],
            },
          ],
        },
      },
    },
  };
}
