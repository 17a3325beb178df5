import {
  artifactResponse,
  artifactsResponse,
  cancelResponse,
  followUpResponse,
} from "cursor-cloud-agents/serve";
import { expect, it } from "vitest";
import { key, secrets } from "../secrets/scan.ts";
import {
  assistant,
  type Connection,
  CUT,
  done,
  END,
  frame,
  ref,
  refuse,
  result,
  StreamServer,
  status,
} from "../support/stream-server.ts";
import { ask, path, readResponse } from "./support.ts";

const planted = ["planted-in-a-header", "planted-in-a-body", "planted-in-a-message", "req-planted"];

/** An API that says everything that it shouldn't, wherever it can. */
const loose = (connection: Connection): Connection => ({
  ...connection,
  headers: {
    ...connection.headers,
    "x-request-id": "req-planted",
    "x-key": encodeURIComponent(key),
    "set-cookie": "planted-in-a-header",
    "retry-after": "1",
  },
});
const refusal = (status: number, code: string) =>
  loose(
    refuse(status, { error: { code, message: `planted-in-a-message ${key}` }, more: "planted-in-a-body" }),
  );

/** Every byte that a browser could get of an answer. */
async function everythingOf(response: Response): Promise<string> {
  const { text } = await readResponse(response);
  return `${response.status} ${response.statusText} ${JSON.stringify([...response.headers])} ${text}`;
}

function expectClean(text: string) {
  expect([...secrets, ...planted].filter((secret) => text.includes(secret))).toEqual([]);
}

const codes: [number, string][] = [
  [400, "validation_error"],
  [401, "unauthorized"],
  [402, key],
  [403, "plan_required"],
  [404, "run_not_found"],
  [409, "agent_busy"],
  [409, key],
  [410, "gone_for_another_reason"],
  [418, "planted-in-a-body"],
  [429, "rate_limit_exceeded"],
  [500, "internal_error"],
  [503, "unavailable"],
];

it.each(codes)(
  "of the API's %i (%s), only our own words reach the browser, on any route",
  async (code, name) => {
    const request = () => new Request(path);
    const post = () =>
      new Request(path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"prompt":"x"}',
      });
    const authorize = () => true;
    const server = new StreamServer(() => refusal(code, name), {
      runs: [refusal(code, name)],
      other: () => refusal(code, name),
    });
    const cursor = server.cursor({ apiKey: key });
    const { runStreamResponse } = await import("cursor-cloud-agents/serve");
    const { clock } = server;
    const answers = [
      runStreamResponse(cursor, ref, { request: request(), authorize, clock }),
      runStreamResponse(cursor, ref, { request: request(), authorize, clock, openingTimeout: 0 }),
      followUpResponse(cursor, ref.agentId, { request: post(), authorize }),
      cancelResponse(cursor, ref, { request: post(), authorize }),
      artifactsResponse(cursor, ref.agentId, { request: request(), authorize }),
      artifactResponse(cursor, ref.agentId, "artifacts/a", { request: request(), authorize }),
      artifactResponse(cursor, ref.agentId, "artifacts/a", { request: request(), authorize, proxy: true }),
    ];
    for (const answer of answers) expectClean(await server.run(answer.then(everythingOf)));
  },
);

it("a run's messages pass, and the key in them is redacted, in every form and every event", async () => {
  const forms = [
    key,
    encodeURIComponent(key),
    Buffer.from(`${key}:`).toString("base64"),
    Buffer.from(key).toString("hex"),
  ];
  const leaks = forms.join(" and ");
  const frames = [status(), frame("error", { code: "auth", message: `the key ${leaks} is bad` })];
  const rest = [
    frame("novelty", { leaks }, "1-0"),
    frame("assistant", `{"text": ${JSON.stringify(leaks)}`, "2-0"),
    assistant("3-0", `it's ${leaks}`),
    result({ text: leaks }),
    done,
  ];
  for (const named of [false, true]) {
    const server = new StreamServer([loose(CUT(...frames)), loose(END(...rest))], { runs: ["RUNNING"] });
    const { runStreamResponse } = await import("cursor-cloud-agents/serve");
    const options = { request: new Request(path), authorize: () => true, clock: server.clock, named };
    const response = await server.run(runStreamResponse(server.cursor({ apiKey: key }), ref, options));
    const served = await server.run(readResponse(response));
    expectClean(served.text);
    expect(served.frames).toHaveLength(8);
    expect(served.frames[1]).toMatchObject({
      type: "error",
      data: { code: "auth", message: /^the key \[redacted\]/ },
    });
  }
});

it("the key is redacted in an event's name and id", async () => {
  const server = new StreamServer([END(frame(key, {}, "1-0"), assistant(key, "Hi"), result(), done)]);
  const { runStreamResponse } = await import("cursor-cloud-agents/serve");
  const options = { request: new Request(path), authorize: () => true, clock: server.clock, named: true };
  const response = await server.run(runStreamResponse(server.cursor({ apiKey: key }), ref, options));
  const served = await server.run(readResponse(response));
  expectClean(served.text);
  expect(served.messages.slice(0, 2)).toMatchObject([
    { type: "[redacted]", lastEventId: "1-0" },
    { type: "assistant", lastEventId: "[redacted]" },
  ]);
});

it("a word that looks like a short key is not redacted", async () => {
  const server = new StreamServer([END(assistant("1-0", "key_TEST is a word"), result(), done)]);
  const { frames } = await server.run(ask(server).then((response) => readResponse(response)));
  expect(frames[0]).toMatchObject({ data: { text: "key_TEST is a word" } });
});
