import * as z from "zod/mini";
import type { Call, Route } from "../core.ts";
import { json } from "../exchange.ts";
import { failedResponse, invalid } from "../failed-response.ts";
import type { ArtifactRecord } from "../store.ts";
import { emptyQuery, text, validate } from "../validate.ts";
import { agentOf } from "./agent-routes.ts";
import { presign } from "./artifact-storage.ts";

/** Query of Download An Artifact. */
export const downloadQuery = z.strictObject({ path: text });

function visibleArtifacts(call: Call): ArtifactRecord[] {
  const { store, options } = call.core;
  return [...agentOf(call).artifacts.values()].filter(
    (file) => store.now() >= file.updatedAt + options.artifactDelayMs,
  );
}

function listArtifacts(call: Call) {
  validate(emptyQuery, call.query);
  // At most 100, no paging.
  const items = visibleArtifacts(call)
    .slice(0, 100)
    .map((file) => ({
      path: file.path,
      sizeBytes: file.bytes.length,
      updatedAt: new Date(file.updatedAt).toISOString(),
    }));
  return json(200, { items });
}

function downloadArtifact(call: Call) {
  const { path } = validate(downloadQuery, call.query);
  const agent = agentOf(call);
  if (!path.startsWith("artifacts/")) throw invalid("Artifact path must be under artifacts/");
  if (!visibleArtifacts(call).some((file) => file.path === path)) {
    throw failedResponse(404, "artifact_not_found", "Artifact not found");
  }
  return json(200, presign(call.core, agent.id, path, call.request.artifactsOrigin));
}

/** Operations on artifacts: list and download. */
export const artifactRoutes: readonly Route[] = [
  { method: "GET", path: "/v1/agents/{id}/artifacts", operationId: "listArtifacts", handle: listArtifacts },
  {
    method: "GET",
    path: "/v1/agents/{id}/artifacts/download",
    operationId: "downloadArtifact",
    handle: downloadArtifact,
  },
];
