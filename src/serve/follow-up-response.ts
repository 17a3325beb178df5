import {
  ArgumentError,
  type CreateRunOptions,
  type CreateRunParams,
  type Cursor,
  isArgumentError,
  type Prompt,
} from "../index.ts";
import { answer, json, refusal } from "./answers.ts";
import { fail } from "./failure.ts";
import { refuseAtGate } from "./gate.ts";
import {
  type AgentRef,
  checkNumber,
  checkOptions,
  commonNames,
  type ServePostOptions,
  toAgentRef,
} from "./options.ts";
import { readJson, refuseUnlessJson } from "./request-body.ts";
import { checkOrigins } from "./same-origin.ts";

/** How a follow-up prompt is taken from a browser. */
export interface FollowUpResponseOptions extends ServePostOptions<AgentRef> {
  /** As in `runs.create`. A wait lasts as long as the run in the way; it ends when the browser leaves. @default "throw" */
  whenBusy?: CreateRunOptions["whenBusy"];
  /** All but the prompt is for you to say, not for the browser. */
  params?: Omit<CreateRunParams, "prompt"> | undefined;
  /** The largest body taken, in bytes; images are in it as base64. @default 1_048_576 (1 MiB) */
  maxBodyBytes?: number | undefined;
}

const optionNames = [
  ...commonNames,
  ...(["allowedOrigins", "whenBusy", "params", "maxBodyBytes"] satisfies (keyof FollowUpResponseOptions)[]),
];

/**
 * Takes a follow-up prompt from a browser: a POST of `{ "prompt": "…" }`, or of a prompt with images, as
 * `application/json`. Answers 201 with the new run, whose stream can be read at once.
 *
 * Refuses pages of other sites (403), other types (415), larger bodies (413) and other fields (400). Refusals are
 * `{ error: { code, message } }`: 409 `agent_busy` and `agent_archived`, 404, 429 with Retry-After, 502, …; where nobody
 * knows whether the run was made, 502 or 504 `outcome_unknown`.
 *
 * @throws ArgumentError when an option can't work, above all without `authorize`; what `authorize` throws
 * @example
 * app.post("/agents/:agentId/runs", (context) =>
 *   followUpResponse(cursor, context.req.param("agentId"), { request: context.req.raw, authorize, whenBusy: "wait" }));
 */
export async function followUpResponse(
  cursor: Cursor,
  agentId: string,
  options: FollowUpResponseOptions,
): Promise<Response> {
  checkOptions(cursor, options, optionNames);
  const { request, whenBusy = "throw", params = {} } = options;
  const allowedOrigins = checkOrigins(options.allowedOrigins);
  const maxBytes = checkNumber("maxBodyBytes", options.maxBodyBytes, { least: 1, otherwise: 1024 * 1024 });
  if (!["throw", "wait", "cancel"].includes(whenBusy)) {
    throw new ArgumentError("whenBusy", 'expected "throw", "wait" or "cancel"');
  }
  if (typeof params !== "object" || params === null || "prompt" in params) {
    throw new ArgumentError("params", "expected what else there is to say of a run, beside its prompt");
  }
  const ref = toAgentRef(agentId);
  const refused = await refuseAtGate({ method: "POST", allowedOrigins }, ref, options);
  if (refused || !ref) return refused as Response;
  const mistyped = refuseUnlessJson(request);
  if (mistyped) return mistyped;
  return answer(options, async () => {
    const body = await readJson(request, maxBytes);
    if (!("value" in body)) return body;
    const prompt = promptOf(body.value);
    if (prompt === undefined) return invalid('The request must be { "prompt": … } and nothing else.');
    // A browser that leaves ends a wait. A prompt that is on its way is not called back: nobody could tell how far it got.
    const signal = whenBusy === "throw" ? undefined : request.signal;
    try {
      const run = await cursor.runs.create(ref.agentId, { ...params, prompt } as CreateRunParams, {
        whenBusy,
        signal,
      });
      return json(201, run);
    } catch (error) {
      // It names what is wrong with the prompt, in this library's words.
      if (isArgumentError(error) && error.argument.startsWith("prompt")) return invalid(error.message);
      throw error;
    }
  });
}

const invalid = (message: string): Response => refusal(fail(400, "invalid_request", { message }));

function promptOf(body: unknown): string | Prompt | undefined {
  if (!hasOnly(body, ["prompt"])) return undefined;
  const { prompt } = body as { prompt?: string | Prompt };
  return typeof prompt === "string" || hasOnly(prompt, ["text", "images"]) ? prompt : undefined;
}

const hasOnly = (value: unknown, names: readonly string[]): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).every((name) => names.includes(name));
