import { ApiError, ConnectionError, Cursor, CursorError } from "cursor-cloud-agents";
import { expect, it } from "vitest";
import { StreamPosition } from "../../src/runs/position.ts";
import { artifacts, file, part } from "../support/artifact-storage.ts";
import { type Answer, END, fake, reply } from "../support/fake-api.ts";
import { listen } from "../support/loopback-server.ts";
import { agentId, ref } from "../support/sample-run.ts";
import { failure } from "../support/waiting.ts";

it("an error body nested without end is still an ApiError", async () => {
  const body = `{"error":${"[".repeat(30_000)}${"]".repeat(30_000)}}`;
  const { cursor, fails } = fake(reply(400, body));
  for (const call of [cursor.me(), cursor.runs.stream(ref).result()]) {
    expect(await fails(call)).toMatchObject({ name: "ApiError", status: 400 });
  }
});

it("the body of a status outside of HTTP's range is read within the same limit", async () => {
  let written = 0;
  const server = await listen((_, response) => {
    response.writeHead(600);
    const push = () => {
      while (!response.destroyed && response.write(Buffer.alloc(1 << 16, 97))) written += 1 << 16;
      if (!response.destroyed) response.once("drain", push);
    };
    push();
  });
  const error = await failure(server.cursor({ maxRetries: 0 }).me());
  expect(error).toBeInstanceOf(ApiError);
  expect(error.status).toBe(600);
  expect(error.body).toHaveLength(4096);
  expect(written).toBeLessThan(16 << 20);
});

it("an error response of fetch counts as a broken connection", async () => {
  const { cursor, fails } = fake(() => Response.error(), { maxRetries: 0 });
  expect(await fails(cursor.me())).toBeInstanceOf(ConnectionError);
});

it.each([undefined, null, Object.create(null), { message: 5 }])(
  "a fetch that throws %o ends in an error of ours",
  async (thrown) => {
    const answer: Answer = () => {
      throw thrown;
    };
    const { cursor, fails } = fake(answer, { maxRetries: 0 });
    expect(await fails(cursor.me())).toBeInstanceOf(CursorError);
  },
);

it.each(["5", "true", '"x"', "[]"])("a 200 with the body %s is an invalid response", async (body) => {
  const { cursor, fails } = fake(reply(200, body));
  expect(await fails(cursor.agents.get(agentId))).toMatchObject({ code: "invalid_response", status: 200 });
});

it("a middleware that makes a new request can't have redirects followed", async () => {
  const seen: unknown[] = [];
  const fetch = async (_: unknown, init?: RequestInit) => {
    seen.push(init?.redirect);
    return Response.json({});
  };
  const middleware = [{ onRequest: ({ request }: { request: Request }) => new Request(request.url) }];
  await new Cursor({ apiKey: "key_TEST", fetch: fetch as typeof globalThis.fetch, middleware }).me();
  expect(seen).toEqual(["manual"]);
});

it("an error says that a middleware has read the body of a stream", async () => {
  const middleware = [
    { onResponse: async ({ response }: { response: Response }) => void (await response.text()) },
  ];
  const { cursor, fails } = fake(END("x"), { middleware });
  const error = await fails(cursor.runs.stream(ref).result());
  expect(error).toBeInstanceOf(CursorError);
  expect(error.message).toContain("clone it first");
});

it("the mark of an empty query in the base URL doesn't swallow the path", async () => {
  for (const mark of ["?", "#", "/?#"]) {
    const { cursor, requests, run } = fake(reply(200, {}), { baseUrl: `https://x.example/p${mark}` });
    await run(cursor.me());
    expect(requests[0]?.url.href).toBe("https://x.example/p/v1/me");
  }
});

it("long ids do not fill the memory: the oldest ones are forgotten", () => {
  const position = new StreamPosition("simplified");
  const id = (number: number) => `${number}-${"x".repeat(1 << 20)}`;
  const frame = (number: number) => ({ id: id(number), data: "" }) as never;
  for (let number = 0; number < 20; number++) position.move([frame(number)], 0, 1);
  position.connected(undefined);
  expect(position.recognise(frame(18))).toBe("old");
  position.connected(undefined);
  expect(position.recognise(frame(2))).toBe("new");
});

it("runs whose ids contain slashes are not confused with each other", async () => {
  const { cursor, requests, run } = fake((request) =>
    reply(200, { id: request.target, agentId: "a", status: "FINISHED" }),
  );
  const wait = (agentId: string, id: string) => cursor.runs.wait({ agentId, id });
  const [one, other] = await run(Promise.all([wait("a/b", "c"), wait("a", "b/c")]));
  expect(one.id).not.toBe(other.id);
  expect(requests.length).toBeGreaterThan(1);
});

it("a storage that always answers with a Retry-After of 0 is given up", async () => {
  const busy = reply(503, "", { "retry-after": "0" });
  const { text, asked } = artifacts(...Array.from({ length: 50 }, () => busy));
  expect(await failure(text())).toMatchObject({ name: "ApiError", status: 503 });
  expect(asked()).toHaveLength(3);
});

it("a partial response that was not requested is rejected", async () => {
  const { text } = artifacts(
    () => new Response(file.slice(0, 5), { status: 206, headers: { "content-range": "bytes 0-4/10" } }),
  );
  expect(await failure(text())).toMatchObject({ code: "invalid_response", status: 206 });
  expect(await artifacts(part()).text()).toBe(file);
});

it.each([
  "http://127.0.0.1:2375/containers",
  "http://localhost/x",
  "https://:password@storage.example/x",
  "https://user@storage.example/x",
  "http://storage.example/x",
  "file:///etc/passwd",
  "javascript:alert(1)",
  "data:text/plain,x",
  "//storage.example/x",
  "",
])("no artifact is fetched from %s", async (url) => {
  const { cursor, requests, fails } = fake(reply(200, { url, expiresAt: "" }));
  const error = await fails(cursor.artifacts.download(agentId, "artifacts/a"));
  expect(error).toMatchObject({ code: "invalid_response" });
  expect(error.message).not.toContain("password");
  expect(requests).toHaveLength(1);
});
