import type { Cursor, RunRef } from "../index.ts";
import { answer, json } from "./failure.ts";
import { checkRoute, type ServePostOptions, servePostTable, throughGate, toRunRef } from "./gate.ts";

/**
 * Cancels a run for a browser, for good: a POST as `application/json`, whose body is ignored. Answers 200 with
 * `{ "id": "run-…" }`; 409 `run_not_cancellable` when the run is over. Rejects the requests that {@link followUpResponse}
 * rejects.
 *
 * To stop watching without cancelling, close the EventSource: the run continues.
 *
 * @throws ArgumentError when an option is not valid, above all without `authorize`; whatever `authorize` throws
 * @example
 * app.post("/agents/:agentId/runs/:id/cancel", (context) =>
 *   cancelResponse(cursor, context.req.param(), { request: context.req.raw, authorize }));
 */
export async function cancelResponse(
  cursor: Cursor,
  ref: RunRef,
  options: ServePostOptions<RunRef>,
): Promise<Response> {
  const checked = checkRoute(servePostTable, cursor, options);
  return throughGate("POST", toRunRef(ref), checked, (run) =>
    answer(checked, async () => {
      await cursor.runs.cancel(run);
      return json(200, { id: run.id });
    }),
  );
}
