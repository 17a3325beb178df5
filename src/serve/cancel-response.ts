import type { Cursor, RunRef } from "../index.ts";
import { answer, json } from "./answers.ts";
import { refuseAtGate } from "./gate.ts";
import { checkOptions, commonNames, type ServePostOptions, toRunRef } from "./options.ts";
import { refuseUnlessJson } from "./request-body.ts";
import { checkOrigins } from "./same-origin.ts";

/**
 * Cancels a run for a browser, for good: a POST as `application/json`, whose body isn't looked at. Answers 200 with
 * `{ "id": "run-…" }`; 409 `run_not_cancellable` when the run is over. Refuses what {@link followUpResponse} refuses.
 *
 * To stop watching is another thing: closing the EventSource does that, and the run goes on.
 *
 * @throws ArgumentError when an option can't work, above all without `authorize`; what `authorize` throws
 * @example
 * app.post("/agents/:agentId/runs/:id/cancel", (context) =>
 *   cancelResponse(cursor, context.req.param(), { request: context.req.raw, authorize }));
 */
export async function cancelResponse(
  cursor: Cursor,
  ref: RunRef,
  options: ServePostOptions<RunRef>,
): Promise<Response> {
  checkOptions(cursor, options, [...commonNames, "allowedOrigins"]);
  const allowedOrigins = checkOrigins(options.allowedOrigins);
  const run = toRunRef(ref);
  const refused = await refuseAtGate({ method: "POST", allowedOrigins }, run, options);
  if (refused || !run) return refused as Response;
  return (
    refuseUnlessJson(options.request) ??
    answer(options, async () => {
      await cursor.runs.cancel(run);
      return json(200, { id: run.id });
    })
  );
}
