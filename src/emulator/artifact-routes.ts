import { agentOf } from "./agent-routes.ts";
import type { Call, Route } from "./core-context.ts";
import { json } from "./exchange.ts";
import { invalid, refusal } from "./refusal.ts";
import { downloadQuery, emptyQuery } from "./schemas.ts";
import { presign } from "./storage.ts";
import type { ArtifactRecord } from "./store.ts";
import { validate } from "./validation.ts";

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
    throw refusal(404, "artifact_not_found", "Artifact not found");
  }
  return json(200, presign(call.core, agent.id, path, call.request.artifactsOrigin));
}

/** List and download. */
export const artifactRoutes: readonly Route[] = [
  { method: "GET", path: "/v1/agents/{id}/artifacts", operationId: "listArtifacts", handle: listArtifacts },
  {
    method: "GET",
    path: "/v1/agents/{id}/artifacts/download",
    operationId: "downloadArtifact",
    handle: downloadArtifact,
  },
];
