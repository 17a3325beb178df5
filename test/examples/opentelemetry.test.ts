import { SpanStatusCode } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { Cursor } from "cursor-cloud-agents";
import { ManualClock } from "cursor-cloud-agents/emulator";
import { expect, it } from "vitest";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { tracing } from "./opentelemetry/tracing.ts";

const secret = "sk-secret";

function stage() {
  const clock = new ManualClock();
  const emulator = checkedEmulator({ clock });
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const cursor = new Cursor({
    apiKey: "key_TRACED",
    fetch: emulator.fetch,
    clock,
    middleware: [tracing(provider.getTracer("test"))],
  });
  const spans = () =>
    exporter
      .getFinishedSpans()
      .map(({ name, attributes, status, events }) => ({ name, attributes, status, events }));
  return { clock, emulator, cursor, spans };
}

it("each request has its span, retries among them, and every span ends", async () => {
  const { clock, emulator, cursor, spans } = stage();
  emulator.faults.status("getRun", 503).dropAnswer("createAgent");
  const { run } = await clock.run(cursor.agents.create({ prompt: `Use ${secret}` }));
  await clock.run(cursor.runs.wait(run));
  await clock.run(cursor.agents.get("bc-00000000-0000-0000-0000-000000000009").catch(() => {}));
  expect(
    spans().map(({ name, attributes, status }) => [
      name,
      attributes["http.response.status_code"] ?? attributes["error.type"],
      status.code === SpanStatusCode.ERROR,
    ]),
  ).toEqual([
    ["POST /v1/agents", "ConnectionError", true],
    ["POST /v1/agents", 409, true],
    ["GET /v1/agents/{id}", 200, false],
    ["GET /v1/agents/{id}/runs/{runId}", 503, true],
    ["GET /v1/agents/{id}/runs/{runId}", 200, false],
    ["GET /v1/agents/{id}/runs/{runId}/stream", 200, false],
    ["GET /v1/agents/{id}/runs/{runId}", 200, false],
    ["GET /v1/agents/{id}", 404, true],
  ]);
  expect(emulator.requests).toHaveLength(spans().length);
  expect(spans()[0]?.attributes).toMatchObject({
    "http.request.method": "POST",
    "url.template": "/v1/agents",
    "server.address": "api.cursor.com",
  });
});

it("an aborted request ends its span, too", async () => {
  const { emulator, cursor, spans } = stage();
  emulator.faults.stall("getAgent", { beforeHeaders: true });
  const leaving = new AbortController();
  const call = cursor.agents.get("bc-00000000-0000-0000-0000-000000000009", { signal: leaving.signal });
  setImmediate(() => leaving.abort(new Error("left")));
  await expect(call).rejects.toThrow("left");
  expect(spans()).toMatchObject([{ name: "GET /v1/agents/{id}", status: { code: SpanStatusCode.ERROR } }]);
});

it("no key, prompt, id or query gets into a span", async () => {
  const { clock, emulator, cursor, spans } = stage();
  emulator.faults.status("createAgent", 500, { body: `no ${secret}` }).dropRequest("createRun");
  const { agent, run } = await clock.run(cursor.agents.create({ prompt: `Use ${secret}` }));
  await clock.run(cursor.runs.wait(run));
  await clock.run(cursor.runs.create(agent.id, { prompt: secret }).catch(() => {}));
  await clock.run(cursor.artifacts.url(agent.id, "artifacts/notes.md"));
  await clock.run(Promise.resolve(cursor.agents.list({ prUrl: "https://github.com/o/r/pull/1" })));
  expect(spans().length).toBeGreaterThanOrEqual(7);
  const everything = JSON.stringify(spans());
  for (const word of ["key_TRACED", secret, agent.id, run.id, "pull/1", "notes.md", "authorization"])
    expect(everything).not.toContain(word);
});
