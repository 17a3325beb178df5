import * as z from "zod/mini";
import { agentOf, knowsModel } from "../agents/agent-routes.ts";
import { createRunBody } from "../agents/agent-schemas.ts";
import { toRun, toRunSummary } from "../agents/agent-views.ts";
import { bytesSource, toBytes } from "../body-source.ts";
import type { Call, Route } from "../core.ts";
import { type Answer, type HeaderEntries, headerOf, json } from "../exchange.ts";
import { failedResponse, invalid } from "../failed-response.ts";
import { pageAfter } from "../page.ts";
import { type AgentRecord, isTerminal, type RunRecord } from "../store.ts";
import { emptyBody, emptyQuery, limit, text, validate } from "../validate.ts";
import { RunConnection } from "./run-connection.ts";
import { frameText } from "./run-log.ts";
import { startRun } from "./start-run.ts";

/** Query of List Runs. */
export const listRunsQuery = z.strictObject({ limit: z.optional(limit), cursor: z.optional(text) });

function runOf(call: Call): { agent: AgentRecord; run: RunRecord } {
  const agent = agentOf(call);
  const run = agent.runs.find((candidate) => candidate.id === call.params["runId"]);
  if (run === undefined) throw failedResponse(404, "run_not_found", "Run not found");
  return { agent, run };
}

/** Whether a run is active, or has ended so recently that the service still treats the agent as busy. */
function isBusy(call: Call, agent: AgentRecord): boolean {
  const { store, options } = call.core;
  return agent.runs.some(
    (run) =>
      !isTerminal(run.status) ||
      (options.busyWindowMs > 0 && store.now() < (run.endedAt ?? 0) + options.busyWindowMs),
  );
}

function createRun(call: Call) {
  const { core, body } = call;
  validate(emptyQuery, call.query);
  const agent = agentOf(call);
  const input = validate(createRunBody, body);
  if (input.model !== undefined && !knowsModel(core, input.model.id)) {
    throw invalid(`Model '${input.model.id}' is not available or invalid`);
  }
  if (agent.archived) throw failedResponse(409, "agent_archived", "Agent is archived");
  if (isBusy(call, agent)) throw failedResponse(409, "agent_busy", "Agent already has an active run");
  return json(201, { run: toRun(agent, startRun(core, agent, input.prompt.text, input.mode)) });
}

function listRuns(call: Call) {
  const { limit = "20", cursor } = validate(listRunsQuery, call.query);
  const agent = agentOf(call);
  const runs = [...agent.runs].reverse();
  const page = pageAfter(runs, cursor, Number(limit));
  return json(200, { ...page, items: page.items.map((run) => toRunSummary(agent, run)) });
}

function getRun(call: Call) {
  validate(emptyQuery, call.query);
  const { agent, run } = runOf(call);
  return json(200, toRun(agent, run));
}

function cancelRun(call: Call) {
  validate(emptyQuery, call.query);
  validate(emptyBody, call.body ?? {});
  const { agent, run } = runOf(call);
  if (isTerminal(run.status)) throw failedResponse(409, "run_not_cancellable", "Run is already finished");
  run.player?.endAs("CANCELLED");
  const request = call.core.workers.request(agent.id);
  if (request !== undefined) call.core.workers.withdraw(request, "idle");
  return json(200, { id: run.id });
}

function unavailableBody(run: RunRecord): Uint8Array {
  const error = { code: "stream_unavailable", message: "Run stream is no longer available" };
  return toBytes(
    ["CREATING", "RUNNING"].map((status) => frameText("status", { runId: run.id, status })).join("") +
      frameText("error", error) +
      frameText("done", {}),
  );
}

/** A body that replaces the stream, because it was opened too early or because the script says so. */
function preludeOf(call: Call, run: RunRecord): Uint8Array | undefined {
  const { options, store } = call.core;
  const window = options.streamNotReady;
  if (window !== false && store.now() < run.createdAt + window.windowMs) {
    if (window.form === "in-stream") return unavailableBody(run);
    throw failedResponse(409, "stream_unavailable", "Run stream is not available yet");
  }
  const prelude = run.preludes.shift();
  return prelude === "unavailable" ? unavailableBody(run) : prelude;
}

/** The log index at which this connection starts. */
function startOf(call: Call, run: RunRecord): number {
  const { faults, store } = call.core;
  const id = headerOf(call.request.headers, "last-event-id");
  if (id === undefined) return 0;
  const rejected = () =>
    failedResponse(
      400,
      "invalid_last_event_id",
      "Last-Event-ID must refer to an event within the requested run",
    );
  if (faults.takeRejectedPosition()) throw rejected();
  if (faults.takeIgnoredPosition()) return 0;
  const position = run.log.positionAfter(id);
  if (position !== undefined) return position;
  if (store.knowsStreamId(id) || !/^\d+-\d+$/.test(id)) throw rejected();
  // The service accepts an id that has the right form but never existed, and silently skips the past (seen October 2026).
  return run.log.entries.length;
}

function leadOf(run: RunRecord, start: number): Uint8Array | undefined {
  if (run.leadRecorded && start === 0) return undefined;
  // The service sends RUNNING here for a cancelled run, and FINISHED before its result (July 2026 capture).
  const status = run.status === "CANCELLED" ? "RUNNING" : run.status;
  return toBytes(frameText("status", { runId: run.recordedRunId ?? run.id, status }));
}

function streamRun(call: Call): Answer {
  validate(emptyQuery, call.query);
  const { run } = runOf(call);
  const { options, store } = call.core;
  if (run.streamExpired || store.now() >= run.createdAt + options.retentionSeconds * 1000) {
    throw failedResponse(410, "stream_expired", "Run stream has expired");
  }
  const headers: HeaderEntries = [
    ["content-type", "text/event-stream"],
    ["cache-control", "no-cache"],
    ["x-cursor-stream-retention-seconds", String(options.retentionSeconds)],
  ];
  const start = startOf(call, run);
  const prelude = preludeOf(call, run);
  if (prelude !== undefined) return { status: 200, headers, body: bytesSource(prelude) };
  const lead = leadOf(run, start);
  store.connections++;
  const connection = new RunConnection({
    log: run.log,
    clock: options.clock,
    start,
    heartbeat: options.heartbeat,
    ...(lead === undefined ? {} : { lead }),
    onClose: () => {
      store.connections--;
    },
  });
  return { status: 200, headers, body: connection };
}

/** Create, list, get, stream, cancel. */
export const runRoutes: readonly Route[] = [
  { method: "POST", path: "/v1/agents/{id}/runs", operationId: "createRun", handle: createRun },
  { method: "GET", path: "/v1/agents/{id}/runs", operationId: "listRuns", handle: listRuns },
  { method: "GET", path: "/v1/agents/{id}/runs/{runId}", operationId: "getRun", handle: getRun },
  { method: "GET", path: "/v1/agents/{id}/runs/{runId}/stream", operationId: "streamRun", handle: streamRun },
  {
    method: "POST",
    path: "/v1/agents/{id}/runs/{runId}/cancel",
    operationId: "cancelRun",
    handle: cancelRun,
  },
];
