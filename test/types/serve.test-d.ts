import type { Cursor, RunEvent, RunRef } from "cursor-cloud-agents";
import {
  type Authorize,
  artifactResponse,
  artifactsResponse,
  cancelResponse,
  followUpResponse,
  runStreamResponse,
  type ServedFrame,
} from "cursor-cloud-agents/serve";

declare const cursor: Cursor;
declare const ref: RunRef;
declare const request: Request;

// One rule for all routes.
const authorize: Authorize = async (_request, { agentId, id }) => agentId !== "" && id !== "";
runStreamResponse(cursor, ref, { request, authorize }) satisfies Promise<Response>;
cancelResponse(cursor, ref, { request, authorize });
followUpResponse(cursor, ref.agentId, { request, authorize, whenBusy: "wait", params: { mode: "plan" } });
artifactsResponse(cursor, ref.agentId, { request, authorize });
artifactResponse(cursor, ref.agentId, null, { request, authorize, proxy: true });

// Where there is a run, its id is there.
runStreamResponse(cursor, ref, { request, authorize: (_request, { id }) => id.length > 0 });
// @ts-expect-error an agent's route has no run
followUpResponse(cursor, ref.agentId, { request, authorize: (_request, { id }) => id.length > 0 });

// @ts-expect-error nobody is let in by leaving it out
runStreamResponse(cursor, ref, { request });
// @ts-expect-error nor by undefined
cancelResponse(cursor, ref, { request, authorize: undefined });
// @ts-expect-error a user is no yes
artifactsResponse(cursor, ref.agentId, { request, authorize: () => ({ user: 1 }) });
// @ts-expect-error forgetting to answer is no yes
artifactsResponse(cursor, ref.agentId, { request, authorize: () => {} });
// @ts-expect-error the prompt is the browser's
followUpResponse(cursor, ref.agentId, { request, authorize, params: { prompt: "x" } });
// @ts-expect-error a misspelt option
runStreamResponse(cursor, ref, { request, authorize, maxDurationMs: 1 });

export function show(frame: ServedFrame): RunEvent | string {
  switch (frame.type) {
    case "reset":
      return "";
    case "failure":
      return frame.data.final ? frame.data.message : (frame.data.code ?? "");
    case "end":
      return frame.id;
    default:
      return frame satisfies RunEvent;
  }
}
