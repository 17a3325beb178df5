import { type Check, type OptionTable, oneOf, orDefault } from "../check.ts";
import {
  ArgumentError,
  type CreateRunOptions,
  type CreateRunParams,
  type Cursor,
  isArgumentError,
  type Prompt,
} from "../index.ts";
import { answer, apiJson, fail, failureResponse } from "./failure.ts";
import {
  type AgentRef,
  checkRoute,
  type ServePostOptions,
  servePostTable,
  throughGate,
  toAgentRef,
  wholeNumber,
} from "./gate.ts";

/** How a follow-up prompt is accepted from a browser. */
export interface FollowUpResponseOptions extends ServePostOptions<AgentRef> {
  /** As in `runs.create`. A wait lasts as long as the agent's current run. It ends when the browser leaves. @default "throw" */
  whenBusy?: CreateRunOptions["whenBusy"];
  /** The run's other parameters, which you decide and the browser does not. @default none */
  params?: Omit<CreateRunParams, "prompt"> | undefined;
  /** The largest body accepted, in bytes; it contains images as base64. @default 1_048_576 (1 MiB) */
  maxBodyBytes?: number | undefined;
}

const checkParams: Check<Omit<CreateRunParams, "prompt"> | undefined> = (argument, value) => {
  if (value === undefined) return undefined;
  if (typeof value === "object" && value !== null && !("prompt" in value)) return value;
  throw new ArgumentError(argument, "expected the parameters of a run without its prompt");
};

const followUpTable = {
  ...servePostTable,
  whenBusy: orDefault(oneOf(["throw", "wait", "cancel"]), "throw"),
  params: orDefault(checkParams, {}),
  maxBodyBytes: orDefault(wholeNumber(1), 1024 * 1024),
} satisfies OptionTable<FollowUpResponseOptions>;

const runShape = {
  id: true,
  agentId: true,
  status: true,
  createdAt: true,
  updatedAt: true,
  durationMs: true,
  result: true,
  git: { branches: [{ repoUrl: true, branch: true, prUrl: true }] },
} as const;

/**
 * Accepts a follow-up prompt from a browser: a POST of `{ "prompt": "…" }`, or of a prompt with images, as
 * `application/json`. Answers 201 with the new run, whose stream can be read at once.
 *
 * Rejects pages of other sites (403), other types (415), larger bodies (413) and other fields (400). Failures are
 * `{ error: { code, message } }`: 409 `agent_busy` and `agent_archived`, 404, 429 with Retry-After, 502, …; where it is
 * not known whether the run was created, 502 or 504 `outcome_unknown`.
 *
 * @throws ArgumentError when an option is not valid, above all without `authorize`; whatever `authorize` throws
 * @example
 * app.post("/agents/:agentId/runs", (context) =>
 *   followUpResponse(cursor, context.req.param("agentId"), { request: context.req.raw, authorize, whenBusy: "wait" }));
 */
export async function followUpResponse(
  cursor: Cursor,
  agentId: string,
  options: FollowUpResponseOptions,
): Promise<Response> {
  const checked = checkRoute(followUpTable, cursor, options);
  const { request, whenBusy, params, maxBodyBytes } = checked;
  return throughGate("POST", toAgentRef(agentId), checked, (ref) =>
    answer(checked, async () => {
      const body = await readJson(request, maxBodyBytes);
      if (!("value" in body)) return body;
      const prompt = promptOf(body.value);
      if (prompt === undefined) return invalid('The request must be { "prompt": … } and nothing else.');
      // A wait ends when the browser leaves, so it gets the request's signal, which also aborts the prompt if the browser
      // leaves while that is being sent. Without a wait there is no signal: to abort a prompt that is on its way to the API
      // would only make its outcome unknown.
      const signal = whenBusy === "throw" ? undefined : request.signal;
      try {
        const run = await cursor.runs.create(ref.agentId, { ...params, prompt } as CreateRunParams, {
          whenBusy,
          signal,
        });
        return apiJson(cursor, 201, run, runShape);
      } catch (error) {
        // The page may see this message: it says what is wrong with the prompt, and it is this library's own.
        if (isArgumentError(error) && error.argument.startsWith("prompt")) return invalid(error.message);
        throw error;
      }
    }),
  );
}

const invalid = (message: string): Response => failureResponse(fail(400, "invalid_request", { message }));

function promptOf(body: unknown): string | Prompt | undefined {
  if (!hasOnly(body, ["prompt"])) return undefined;
  const { prompt } = body as { prompt?: string | Prompt };
  return typeof prompt === "string" || hasOnly(prompt, ["text", "images"]) ? prompt : undefined;
}

const hasOnly = (value: unknown, names: readonly string[]): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).every((name) => names.includes(name));

/**
 * Reads the JSON of a request, or returns the answer that says what is wrong with it. The limit applies to the bytes that
 * arrive, whatever length the request claims.
 */
async function readJson(request: Request, maxBytes: number): Promise<{ value: unknown } | Response> {
  const bytes = await readBytes(request, maxBytes);
  if (bytes === undefined) return failureResponse(fail(413, "body_too_large"));
  try {
    return { value: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) };
  } catch {
    return invalid("The request is not valid JSON.");
  }
}

/** Reads the whole body; undefined where it is larger than the limit. */
async function readBytes({ headers, body }: Request, maxBytes: number): Promise<Uint8Array | undefined> {
  if (Number(headers.get("content-length")) > maxBytes) return undefined;
  // One buffer that doubles: a list of chunks of one byte each would take hundreds of times the bytes' own memory.
  let bytes = new Uint8Array(Math.min(maxBytes, 1024));
  let length = 0;
  const reader = body?.getReader();
  try {
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
      const end = length + next.value.length;
      if (end > maxBytes) {
        await reader?.cancel();
        return undefined;
      }
      if (end > bytes.length) {
        const larger = new Uint8Array(Math.min(maxBytes, Math.max(end, 2 * bytes.length)));
        larger.set(bytes.subarray(0, length));
        bytes = larger;
      }
      bytes.set(next.value, length);
      length = end;
    }
  } finally {
    reader?.releaseLock();
  }
  return bytes.subarray(0, length);
}
