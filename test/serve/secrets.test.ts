import { toUIMessageStreamResponse } from "cursor-cloud-agents/ai-sdk";
import {
  artifactResponse,
  artifactsResponse,
  cancelResponse,
  followUpResponse,
  runStreamResponse,
} from "cursor-cloud-agents/serve";
import { describe, expect, it } from "vitest";
import { key, secrets } from "../secrets/scan.ts";
import { type Connection, CUT, END, fake, reply } from "../support/fake-api.ts";
import { assistant, done, frame, result, status, thinking, tool } from "../support/frames.ts";
import { ref } from "../support/sample-run.ts";
import { StreamServer } from "../support/stream-server.ts";
import { post } from "./stage.ts";
import { ask, path, piecewise, readResponse } from "./support.ts";

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
    reply(status, { error: { code, message: `planted-in-a-message ${key}` }, more: "planted-in-a-body" }),
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

describe("a key that an agent quotes over several deltas does not reach the page", () => {
  const serverKey = "crsr_of-the-server-0123456789";
  const said = `The key is ${serverKey}, cc.`;
  const cuts: [string, string[]][] = [
    ["one delta", [said]],
    ["two deltas", [said.slice(0, 20), said.slice(20)]],
    ["one character a delta", [...said]],
  ];
  const served = async (texts: string[], route: "serve" | "ai-sdk") => {
    const deltas = texts.flatMap((text, index) => [
      assistant(`${index}-0`, text),
      thinking(`${index}-1`, text),
    ]);
    const args = { args: { [serverKey]: serverKey }, result: { success: [serverKey] } };
    const server = new StreamServer([
      END(
        status(),
        ...deltas.filter((_, index) => index % 2 === 0),
        tool("500-0", "call-1", "completed", args),
        ...deltas.filter((_, index) => index % 2 === 1),
        result({ text: said }),
        done,
      ),
    ]);
    const cursor = server.cursor({ apiKey: serverKey });
    const { clock } = server;
    const response =
      route === "serve"
        ? runStreamResponse(cursor, ref, { request: new Request(path), authorize: () => true, clock })
        : Promise.resolve(toUIMessageStreamResponse(cursor.runs.stream(ref), { clock }));
    const text = await server.run(response.then((answer) => answer.text()));
    const frames = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json!));
    return { text, frames };
  };

  it.each(cuts)("serve: %s", async (_, texts) => {
    const { text, frames } = await served(texts, "serve");
    const joined = (type: string) =>
      frames.map((frame) => (frame.type === type ? frame.data.text : "")).join("");
    expect(joined("assistant")).toBe("The key is [redacted], cc.");
    expect(joined("thinking")).toBe("The key is [redacted], cc.");
    expect(frames).toHaveLength(2 * texts.length + 5);
    expect(text).not.toContain(serverKey);
  });

  it.each(cuts)("ai-sdk: %s", async (_, texts) => {
    const { text, frames } = await served(texts, "ai-sdk");
    const joined = (type: string) => frames.map((chunk) => (chunk.type === type ? chunk.delta : "")).join("");
    expect(joined("text-delta")).toBe("The key is [redacted], cc.");
    expect(joined("reasoning-delta")).toBe("The key is [redacted], cc.");
    expect(frames.at(-1)).toEqual({ type: "finish" });
    expect(text).not.toContain(serverKey);
  });

  it("a page that reconnects in the middle gets what was held back", async () => {
    const frames = [...said].map((character, index) => assistant(`${index}-0`, character));
    const server = new StreamServer(({ lastEventId }) =>
      END(
        ...frames.slice(lastEventId === undefined ? 0 : Number.parseInt(lastEventId, 10) + 1),
        result(),
        done,
      ),
    );
    const cursor = server.cursor({ apiKey: serverKey });
    const options = { request: new Request(path), authorize: () => true, clock: server.clock };
    const first = piecewise(await server.run(runStreamResponse(cursor, ref, options)));
    let text = "";
    for (let read = 0; read < 9; read++) text += await server.run(first.next());
    await first.cancel();
    const lastEventId = [...text.matchAll(/^id: (.*)$/gm)].at(-1)![1]!;
    const again = new Request(path, { headers: { "last-event-id": lastEventId } });
    const rest = await server.run(runStreamResponse(cursor, ref, { ...options, request: again }));
    text += await server.run(rest.text());
    const all = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json!));
    expect(all.map((frame) => (frame.type === "assistant" ? frame.data.text : "")).join("")).toBe(
      "The key is [redacted], cc.",
    );
  });
});

describe("an answer of the API has its documented fields alone, without the key", () => {
  const secret = "https://storage.example/?X-Amz-Signature=hush";
  const serverKey = "crsr_of-the-server-0123456789";
  const times = { createdAt: "2026-01-01T00:00:00.000Z", updatedAt: "2026-01-01T00:00:00.000Z" };

  it("in the list of artifacts", async () => {
    const known = { sizeBytes: 1, updatedAt: times.updatedAt };
    const items = [
      { path: "artifacts/a", ...known, downloadUrl: secret, __proto__: { x: 1 } },
      { path: `artifacts/${serverKey}`, ...known, path_: serverKey },
      { path: { url: secret }, ...known },
    ];
    const { cursor } = fake(reply(200, { items, more: secret }), { apiKey: serverKey });
    const response = await artifactsResponse(cursor, "bc-1", {
      request: new Request(path),
      authorize: () => true,
    });
    expect(await response.json()).toEqual({
      items: [{ path: "artifacts/a", ...known }, { path: "artifacts/[redacted]", ...known }, known],
    });
  });

  it("in the run of a follow-up", async () => {
    const branch = { repoUrl: "github.com/a/b", branch: "main", prUrl: "https://github.com/a/b/pull/1" };
    const run = { id: "run-1", agentId: "bc-1", status: "CREATING", ...times };
    const git = { branches: [{ ...branch, token: secret }], remote: secret };
    const { cursor } = fake(reply(201, { run: { ...run, result: serverKey, git, podUrl: secret } }), {
      apiKey: serverKey,
    });
    const response = await followUpResponse(cursor, "bc-1", {
      request: post({ prompt: "x" }),
      authorize: () => true,
    });
    expect(await response.json()).toEqual({ ...run, result: "[redacted]", git: { branches: [branch] } });
  });
});
