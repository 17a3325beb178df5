import type { Cursor } from "cursor-cloud-agents";
import {
  type Authorize,
  artifactResponse,
  artifactsResponse,
  cancelResponse,
  followUpResponse,
  runStreamResponse,
} from "cursor-cloud-agents/serve";

/** The routes of a page that shows agents, as one fetch handler. `authorize` is asked in each of them. */
export function createHandler(cursor: Cursor, authorize: Authorize) {
  return async (request: Request): Promise<Response> => {
    const { pathname, searchParams } = new URL(request.url);
    const [, , agentId = "", what, id = "", action] = pathname.split("/");
    const options = { request, authorize };
    switch (`${what}/${action ?? ""}`) {
      case "runs/stream":
        return runStreamResponse(cursor, { agentId, id }, options);
      case "runs/cancel":
        return cancelResponse(cursor, { agentId, id }, options);
      case "runs/":
        return followUpResponse(cursor, agentId, { ...options, whenBusy: "wait" });
      case "artifacts/":
        return artifactsResponse(cursor, agentId, options);
      case "artifact/":
        return artifactResponse(cursor, agentId, searchParams.get("path"), options);
      default:
        return new Response("Not found", { status: 404 });
    }
  };
}
