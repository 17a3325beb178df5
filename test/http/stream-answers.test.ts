import { describe, expect, it } from "vitest";
import {
  type Answer,
  bodyOf,
  broken,
  END,
  failedResponse,
  fake,
  reply,
  SILENT,
} from "../support/fake-api.ts";
import { assistant, done, result, status } from "../support/frames.ts";
import { ref, run } from "../support/sample-run.ts";

// What answers the opening of a run's stream, seen from HTTP; the events themselves are run-stream's.

const good = END(status(), assistant("100-0", "Hello"), result(), done);
const page = `<html>${"<p>login</p>".repeat(3_000)}</html>`;
const html = { "content-type": "text/html" };
const isStream = ({ target }: { target: string }) => target.endsWith("/stream");

/** Streams answer with `answer`, Get A Run always with a run that goes on. */
const beside =
  (answer: Answer): Answer =>
  (request) =>
    isStream(request) ? answer : reply(200, run);

describe("a stream's answer that may pass", () => {
  it.each<[string, Answer, string]>([
    ["504 with a page", reply(504, page, html), "api"],
    ["500", reply(500), "api"],
    ["429", failedResponse(429, "rate_limit_exceeded", { "retry-after": "2" }), "api"],
    ["409 stream_unavailable", failedResponse(409, "stream_unavailable"), "api"],
    ["a broken connection", broken(), "connection"],
    ["silence", SILENT, "timeout"],
    ["200 with a page", reply(200, page, html), "stream"],
    ["200 with JSON", reply(200, { error: { code: "x" } }), "stream"],
    ["200 without a type", () => new Response(bodyOf([status()])), "stream"],
  ])("%s: tried 1 + maxReconnects times, and not times maxRetries", async (_, answer, kind) => {
    const { cursor, requests, fails } = fake(beside(answer));
    const reasons: unknown[] = [];
    const onReconnect = ({ reason }: { reason: unknown }) => reasons.push(reason);
    const error = await fails(cursor.runs.stream(ref, { maxReconnects: 3, onReconnect }).result());
    expect(requests.filter(isStream)).toHaveLength(4);
    expect(error).toMatchObject({ agentId: ref.agentId, runId: ref.id });
    expect(error.message).not.toContain("<");
    expect(reasons.map((reason) => (reason as { kind: string }).kind)).toEqual([kind, kind, kind]);
  });

  it("is opened once with maxReconnects 0", async () => {
    const { cursor, requests, fails } = fake(beside(reply(504, page, html)));
    await fails(cursor.runs.stream(ref, { maxReconnects: 0 }).result());
    expect(requests.filter(isStream)).toHaveLength(1);
  });

  it("has its body cancelled", async () => {
    let cancelled = 0;
    const { cursor, run: pass } = fake([
      () =>
        new Response(
          bodyOf([page], "stall", () => cancelled++),
          { headers: html },
        ),
      good,
    ]);
    expect((await pass(cursor.runs.stream(ref).result())).status).toBe("FINISHED");
    expect(cancelled).toBe(1);
  });
});

describe("a stream's answer that is final", () => {
  it.each([
    [401, "unauthorized"],
    [403, "plan_required"],
    [404, "run_not_found"],
  ])("%i %s is the API's own error, after one request", async (status, code) => {
    const { cursor, requests, fails } = fake(failedResponse(status, code));
    const error = await fails(cursor.runs.stream(ref).result());
    expect([error.kind, error.status, error.code, requests.length]).toEqual(["api", status, code, 1]);
    expect(error.message).toBe(
      `GET /v1/agents/${ref.agentId}/runs/${ref.id}/stream -> ${status} ${code}: because ${code}`,
    );
  });

  it("410 is never asked for again: Get A Run has the outcome", async () => {
    const finished = { ...run, status: "FINISHED", result: "Hello" };
    const {
      cursor,
      requests,
      run: pass,
    } = fake([failedResponse(410, "stream_expired"), reply(200, finished)]);
    expect(await pass(cursor.runs.stream(ref).result())).toMatchObject({
      status: "FINISHED",
      text: "Hello",
      source: "run",
    });
    expect(requests.map(isStream)).toEqual([true, false]);
  });
});

describe("an event stream is one by the essence of its type", () => {
  it.each([
    "text/event-stream",
    "text/event-stream; charset=utf-8",
    "TEXT/EVENT-STREAM",
    " text/event-stream ;x=1",
  ])("%s", async (type) => {
    const body = () => bodyOf([status(), result(), done]);
    const {
      cursor,
      requests,
      run: pass,
    } = fake([() => new Response(body(), { headers: { "content-type": type } })]);
    expect((await pass(cursor.runs.stream(ref).result())).status).toBe("FINISHED");
    expect(requests).toHaveLength(1);
  });
});

it("the key function is asked again for each connection", async () => {
  let count = 0;
  const { cursor, requests, run: pass } = fake([END(status()), good], { apiKey: () => `key_${++count}` });
  await pass(cursor.runs.stream(ref).result());
  expect(requests.map(({ headers }) => headers.get("authorization"))).toEqual([
    "Bearer key_1",
    "Bearer key_2",
  ]);
});
