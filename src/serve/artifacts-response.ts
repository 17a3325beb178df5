import type { Cursor } from "../index.ts";
import { answer, json } from "./answers.ts";
import { refuseAtGate } from "./gate.ts";
import { type AgentRef, checkOptions, commonNames, type ServeOptions, toAgentRef } from "./options.ts";

/**
 * Lists an agent's artifacts for a browser: `{ "items": [{ path, sizeBytes, updatedAt }, …] }`, at most 100. Each
 * `path` is what {@link artifactResponse} takes.
 *
 * @throws ArgumentError when an option can't work, above all without `authorize`; what `authorize` throws
 * @example
 * app.get("/agents/:agentId/artifacts", (context) =>
 *   artifactsResponse(cursor, context.req.param("agentId"), { request: context.req.raw, authorize }));
 */
export async function artifactsResponse(
  cursor: Cursor,
  agentId: string,
  options: ServeOptions<AgentRef>,
): Promise<Response> {
  checkOptions(cursor, options, commonNames);
  const ref = toAgentRef(agentId);
  const refused = await refuseAtGate({ method: "GET" }, ref, options);
  if (refused || !ref) return refused as Response;
  const { signal } = options.request;
  return answer(options, async () => {
    const { items } = await cursor.artifacts.list(ref.agentId, { signal });
    return json(200, { items });
  });
}
