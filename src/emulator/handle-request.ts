import { serveArtifact } from "./agents/artifact-storage.ts";
import { authenticate } from "./authenticate.ts";
import type { Core } from "./core.ts";
import {
  type Answer,
  headerOf,
  type IncomingRequest,
  isSource,
  type Outcome,
  observeExchange,
} from "./exchange.ts";
import {
  callUser,
  FailedResponse,
  failedResponse,
  flatFailedResponse,
  ownFailure,
} from "./failed-response.ts";
import { interruptAnswer, statusAnswer } from "./faults.ts";
import type { Journal } from "./journal.ts";
import { type MatchedRoute, matchRoute, queryOf } from "./router.ts";

/**
 * Turns one request into its outcome: records it, applies the planned faults, and lets the operation answer it. If the
 * emulator or a callback of the user fails, the outcome is an answer that says so.
 *
 * @internal
 */
export async function handleRequest(
  core: Core,
  journal: Journal,
  request: IncomingRequest,
): Promise<Outcome> {
  try {
    return await answerRequest(core, journal, request);
  } catch (error) {
    return { kind: "answer", answer: ownFailure(error) };
  }
}

async function answerRequest(core: Core, journal: Journal, request: IncomingRequest): Promise<Outcome> {
  const { faults } = core;
  const path = request.target.split("?", 1)[0] ?? "";
  const match = request.realm === "api" ? matchRoute(request.method, path) : undefined;
  const operationId = request.realm === "artifacts" ? "getArtifactBytes" : match?.route.operationId;
  const record = journal.record(request, core.store.now(), operationId);
  if (faults.take("drop-request", record) !== undefined) return { kind: "dropped" };

  const status = faults.take("status", record);
  const interruption = faults.take("interrupt", record);
  const drop = faults.take("drop-answer", record);
  const silence = faults.take("silence", record);
  const delay = faults.take("delay", record);
  let answer = status === undefined ? await perform(core, request, match) : statusAnswer(status);
  if (interruption !== undefined) answer = interruptAnswer(answer, interruption);
  answer = { ...answer, headers: [...answer.headers, ["x-request-id", core.store.ids.requestId()]] };
  const { onExchange } = core.options;
  if (onExchange !== undefined) {
    const isFaulty = [status, interruption, drop, silence].some((fault) => fault !== undefined);
    answer = observeExchange(record, answer, isFaulty, (exchange) =>
      callUser("onExchange", () => onExchange(exchange)),
    );
  }
  if (delay !== undefined) await core.sleep(delay.ms);
  if (drop !== undefined || silence !== undefined || request.signal?.aborted === true) {
    if (isSource(answer.body)) answer.body.close();
    return { kind: drop === undefined ? "silence" : "dropped" };
  }
  record.status = answer.status;
  return { kind: "answer", answer };
}

/** Does what the request asks for: the artifact storage, or the operation of the matched route. */
async function perform(
  core: Core,
  request: IncomingRequest,
  match: MatchedRoute | undefined,
): Promise<Answer> {
  try {
    if (request.realm === "artifacts") return serveArtifact(core, request);
    if (match === undefined) {
      throw failedResponse(404, "not_found", `Route ${request.method}:${request.target} not found`);
    }
    const { route, params } = match;
    const caller = authenticate(request.headers, core.options.keys);
    const { rateLimit } = core.options;
    if (rateLimit !== undefined) core.rateLimits.check(`${route.operationId} ${caller.key}`, rateLimit);
    const body = parseBody(request);
    return await route.handle({ core, request, caller, params, query: queryOf(request.target), body });
  } catch (error) {
    if (error instanceof FailedResponse) return error.answer;
    throw error;
  }
}

/**
 * The parsed JSON body, read as the service's framework reads it; `undefined` if there is neither a body nor a content type.
 *
 * @throws FailedResponse in the framework's flat form: 400 for an empty or invalid JSON body, 415 for other content types.
 */
function parseBody(request: IncomingRequest): unknown {
  if (request.method === "GET") return undefined;
  const contentType = headerOf(request.headers, "content-type");
  if (contentType === undefined && request.body.length === 0) return undefined;
  const essence = contentType?.split(";", 1)[0]?.trim().toLowerCase();
  if (essence !== "application/json") {
    throw flatFailedResponse(415, `Unsupported Media Type: ${essence ?? "undefined"}`);
  }
  if (request.body.length === 0) {
    throw flatFailedResponse(400, "Body cannot be empty when content-type is set to 'application/json'");
  }
  try {
    return JSON.parse(new TextDecoder().decode(request.body));
  } catch {
    throw flatFailedResponse(400, "Body is not valid JSON but content-type is set to 'application/json'");
  }
}
