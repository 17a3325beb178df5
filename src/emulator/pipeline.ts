import { bytesSource, interruptedSource, observedSource, toBytes } from "./body-source.ts";
import type { Core } from "./core-context.ts";
import {
  type Answer,
  type HeaderEntries,
  type IncomingRequest,
  isSource,
  json,
  type Outcome,
} from "./exchange.ts";
import type { Fault } from "./faults.ts";
import { authenticate, type Caller } from "./keys.ts";
import { headerMap, type MutableRecord, recordRequest } from "./recorder.ts";
import { Refusal, rateLimited, refusal } from "./refusal.ts";
import { parseBody } from "./request-body.ts";
import { matchRoute } from "./router.ts";
import { serveArtifact } from "./storage.ts";

function queryOf(target: string): Record<string, string | string[]> {
  const at = target.indexOf("?");
  const parameters = new URLSearchParams(at < 0 ? "" : target.slice(at + 1));
  const query: Record<string, string | string[]> = {};
  for (const name of new Set(parameters.keys())) {
    const values = parameters.getAll(name);
    query[name] = values.length === 1 ? (values[0] as string) : values;
  }
  return query;
}

function checkRate(core: Core, caller: Caller, operationId: string): void {
  const limit = core.options.rateLimit;
  if (limit === undefined) return;
  const wait = core.limits.take(`${operationId} ${caller.key}`, [
    { count: limit.perMinute, windowMs: 60_000 },
  ]);
  if (wait === 0) return;
  const seconds = Math.ceil(wait / 1000);
  const headers: HeaderEntries = [
    ["x-ratelimit-limit", String(limit.perMinute)],
    ["x-ratelimit-remaining", "0"],
    ["x-ratelimit-reset", String(Math.ceil((core.store.now() + wait) / 1000))],
  ];
  if (limit.retryAfter !== false) headers.push(["retry-after", String(seconds)]);
  throw rateLimited(limit.form ?? "envelope", headers, seconds);
}

async function perform(
  core: Core,
  request: IncomingRequest,
  match: ReturnType<typeof matchRoute>,
): Promise<Answer> {
  try {
    if (request.realm === "artifacts") return serveArtifact(core, request);
    if (match === undefined)
      throw refusal(404, "not_found", `Route ${request.method}:${request.target} not found`);
    const { route, params } = match;
    const caller = authenticate(request.headers, core.options.keys);
    checkRate(core, caller, route.operationId);
    const body = parseBody(request);
    return await route.handle({ core, request, caller, params, query: queryOf(request.target), body });
  } catch (error) {
    if (error instanceof Refusal) return error.answer;
    throw error; // A script or a hook of the user has failed: that is for them to see.
  }
}

function statusAnswer(fault: Extract<Fault, { kind: "status" }>): Answer {
  const headers: HeaderEntries = Object.entries(fault.headers);
  const { body, status } = fault;
  if (body === undefined) return { status, headers, body: new Uint8Array() };
  if (typeof body === "string") return { status, headers, body: toBytes(body) };
  if (body instanceof Uint8Array) return { status, headers, body };
  const answer = json(status, body);
  const own = new Set(headers.map(([name]) => name.toLowerCase()));
  return { ...answer, headers: [...answer.headers.filter(([name]) => !own.has(name)), ...headers] };
}

/** Hides the answer's body behind a cut or a stall. */
function interrupt(answer: Answer, fault: Extract<Fault, { kind: "interrupt" }>): Answer {
  const source = isSource(answer.body) ? answer.body : bytesSource(answer.body);
  return { ...answer, body: interruptedSource(source, fault) };
}

function observe(
  core: Core,
  request: IncomingRequest,
  record: MutableRecord,
  answer: Answer,
  fault: boolean,
): Answer {
  const { onExchange } = core.options;
  if (onExchange === undefined) return answer;
  const tell = (bytes: Uint8Array, cut: boolean) =>
    onExchange({
      ...(record.operationId === undefined ? {} : { operationId: record.operationId }),
      request: {
        method: request.method,
        url: request.url,
        headers: record.headers,
        bodyText: record.bodyText,
      },
      response: {
        status: answer.status,
        headers: headerMap(answer.headers),
        bodyText: new TextDecoder().decode(bytes),
      },
      fault: fault || cut,
    });
  if (isSource(answer.body)) return { ...answer, body: observedSource(answer.body, tell) };
  tell(answer.body, false);
  return answer;
}

/** What becomes of one request: it is recorded, struck by faults, answered. @internal */
export async function handleRequest(
  core: Core,
  requests: MutableRecord[],
  request: IncomingRequest,
): Promise<Outcome> {
  const { faults } = core;
  const record = recordRequest(request, core.store.now());
  const path = request.target.split("?", 1)[0] ?? "";
  const match = request.realm === "api" ? matchRoute(request.method, path) : undefined;
  const operationId = request.realm === "artifacts" ? "getArtifactBytes" : match?.route.operationId;
  if (operationId !== undefined) record.operationId = operationId;
  requests.push(record);
  if (faults.take("drop-request", record) !== undefined) return { kind: "dropped" };

  const status = faults.take("status", record);
  const interruption = faults.take("interrupt", record);
  const drop = faults.take("drop-answer", record);
  const silence = faults.take("silence", record);
  const delay = faults.take("delay", record);
  let answer = status === undefined ? await perform(core, request, match) : statusAnswer(status);
  if (interruption !== undefined) answer = interrupt(answer, interruption);
  answer = { ...answer, headers: [...answer.headers, ["x-request-id", core.store.ids.requestId()]] };
  const struck = [status, interruption, drop, silence].some((fault) => fault !== undefined);
  answer = observe(core, request, record, answer, struck);
  const leave = () => {
    if (isSource(answer.body)) answer.body.close();
  };
  if (delay !== undefined) await core.sleep(delay.ms);
  if (drop !== undefined || silence !== undefined || request.signal?.aborted === true) {
    leave();
    return { kind: drop === undefined ? "silence" : "dropped" };
  }
  record.status = answer.status;
  return { kind: "answer", answer };
}
