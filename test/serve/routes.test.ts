import { Cursor as Client, type Cursor, isArgumentError } from "cursor-cloud-agents";
import { ManualClock } from "cursor-cloud-agents/emulator";
import {
  artifactResponse,
  artifactsResponse,
  cancelResponse,
  followUpResponse,
  type ServePostOptions,
} from "cursor-cloud-agents/serve";
import { describe, expect, it, vi } from "vitest";
import { fake, reply } from "../support/api-server.ts";
import { checkedEmulator } from "../support/checked-emulator.ts";

const site = "https://app.example";
const authorize = () => true;

function stage() {
  const clock = new ManualClock();
  const emulator = checkedEmulator({ clock });
  emulator.script("hold", (run) => run.text("Working").hold("gate").finish());
  emulator.script("quick", (run) => run.text("Done").finish());
  const cursor = new Client({ apiKey: "test", fetch: emulator.fetch, clock, random: () => 0.5 });
  const start = (text: string) => emulator.addAgent({ prompt: { text } });
  return { clock, emulator, cursor, start };
}

type Init = RequestInit & { duplex?: "half" };
const post = (body: unknown, headers: Record<string, string> = {}, more: Init = {}) =>
  new Request(`${site}/x`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" || body instanceof ReadableStream ? body : JSON.stringify(body),
    ...more,
  } as RequestInit);
const get = (init: RequestInit = {}) => new Request(`${site}/x`, init);

const told = async (response: Response) => [response.status, JSON.parse(await response.text()).error?.code];

describe("a follow-up", () => {
  it("makes a run, whose stream can be read", async () => {
    const { cursor, emulator, clock, start } = stage();
    const { agent } = start("quick");
    await clock.advance(5_000);
    const response = await followUpResponse(cursor, agent.id, {
      request: post({ prompt: "And quick tests" }),
      authorize,
    });
    expect(response.status).toBe(201);
    expect(response.headers.get("cache-control")).toBe("no-store");
    const run = JSON.parse(await response.text());
    expect(run).toMatchObject({ agentId: agent.id, status: "CREATING" });
    expect(emulator.runs(agent.id).map(({ id }) => id)).toContain(run.id);
  });

  it("takes a prompt with images, and what the server says of the run, and nothing else", async () => {
    const { cursor, requests } = fake(
      reply(201, { run: { id: "run-1", agentId: "bc-1", status: "CREATING" } }),
    );
    const prompt = { text: "See", images: [{ data: "aGk=", mimeType: "image/png" }] };
    const options = { authorize, params: { mode: "plan" as const } };
    expect((await followUpResponse(cursor, "bc-1", { ...options, request: post({ prompt }) })).status).toBe(
      201,
    );
    expect(requests[0]?.json).toEqual({ mode: "plan", prompt });
    const smuggled = post({ prompt, mcpServers: [{ name: "x", url: "https://evil.example" }] });
    expect(await told(await followUpResponse(cursor, "bc-1", { ...options, request: smuggled }))).toEqual([
      400,
      "invalid_request",
    ]);
    expect(requests).toHaveLength(1);
  });

  it.each([
    ["no JSON", "{"],
    ["an empty body", ""],
    ["null", null],
    ["a list", []],
    ["no prompt", {}],
    ["an empty prompt", { prompt: "" }],
    ["a number", { prompt: 7 }],
    ["no text", { prompt: { text: 7 } }],
    ["a broken image", { prompt: { text: "x", images: [{}] } }],
    ["bytes that are no UTF-8", new Blob([Uint8Array.of(0xff)]).stream()],
  ])("that is %s is 400, with the API untouched", async (_, body) => {
    const { cursor, requests } = fake([]);
    const request = post(body, {}, { duplex: "half" });
    expect(await told(await followUpResponse(cursor, "bc-1", { request, authorize }))).toEqual([
      400,
      "invalid_request",
    ]);
    expect(requests).toEqual([]);
  });

  it("has a limit, whatever length is claimed, and is not read beyond it", async () => {
    const { cursor, requests } = fake([]);
    const claimed = post({ prompt: "x".repeat(2_000_000) });
    expect(await told(await followUpResponse(cursor, "bc-1", { request: claimed, authorize }))).toEqual([
      413,
      "body_too_large",
    ]);
    let pulled = 0;
    const endless = new ReadableStream({
      pull: (controller) => {
        pulled++;
        controller.enqueue(new Uint8Array(1000).fill(32));
      },
    });
    const request = post(endless, {}, { duplex: "half" });
    const response = await followUpResponse(cursor, "bc-1", { request, authorize, maxBodyBytes: 10_000 });
    expect(await told(response)).toEqual([413, "body_too_large"]);
    expect(pulled).toBeLessThan(20);
    expect(requests).toEqual([]);
  });

  it("to a busy agent is 409, or waits, or cancels, as the server says", async () => {
    const { cursor, emulator, clock, start } = stage();
    const { agent, run } = start("hold");
    const ask = (whenBusy?: "wait" | "cancel") =>
      followUpResponse(cursor, agent.id, { request: post({ prompt: "quick" }), authorize, whenBusy });
    expect(await told(await clock.run(ask()))).toEqual([409, "agent_busy"]);
    const waiting = ask("wait");
    await clock.advance(20_000);
    emulator.release("gate");
    expect((await clock.run(waiting)).status).toBe(201);
    expect(emulator.runs(agent.id).find(({ id }) => id === run.id)?.status).toBe("FINISHED");
    expect(
      await told(
        await clock
          .run(ask("typo" as never))
          .catch((error: unknown) =>
            Response.json({ error: { code: isArgumentError(error) && error.argument } }),
          ),
      ),
    ).toEqual([200, "whenBusy"]);
  });

  it("that waits is given up when the browser leaves, and is not sent after that", async () => {
    const { cursor, emulator, clock, start } = stage();
    const { agent } = start("hold");
    const controller = new AbortController();
    const request = post({ prompt: "quick" }, {}, { signal: controller.signal });
    const waiting = followUpResponse(cursor, agent.id, { request, authorize, whenBusy: "wait" });
    await clock.advance(20_000);
    controller.abort();
    expect((await clock.run(waiting)).status).toBe(499);
    emulator.release("gate");
    await clock.advance(60_000);
    expect(emulator.runs(agent.id)).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });

  it("of which nobody knows whether it arrived says so", async () => {
    const { cursor, emulator, clock, start } = stage();
    const { agent } = start("quick");
    await clock.advance(5_000);
    emulator.faults.dropAnswer("createRun");
    const onError = vi.fn();
    const request = post({ prompt: "quick" });
    const response = await clock.run(followUpResponse(cursor, agent.id, { request, authorize, onError }));
    expect(await told(response)).toEqual([502, "outcome_unknown"]);
    expect(onError).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ outcome: "unknown" }));
    expect(emulator.runs(agent.id)).toHaveLength(2);
  });
});

describe("a cancel", () => {
  it("ends the run, and is 409 when it is over", async () => {
    const { cursor, emulator, start } = stage();
    const { agent, run } = start("hold");
    const response = await cancelResponse(cursor, run, { request: post({}), authorize });
    expect([response.status, JSON.parse(await response.text())]).toEqual([200, { id: run.id }]);
    expect(emulator.runs(agent.id)[0]?.status).toBe("CANCELLED");
    expect(await told(await cancelResponse(cursor, run, { request: post({}), authorize }))).toEqual([
      409,
      "run_not_cancellable",
    ]);
  });
});

describe("what changes something takes no request of another site", () => {
  const from = (headers: Record<string, string>, allowedOrigins?: string[], url = `${site}/x`) => {
    const { cursor, requests } = fake(reply(200, { id: "run-1" }));
    const request = new Request(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: "{}",
    });
    const options: ServePostOptions<{ agentId: string; id: string }> = {
      request,
      authorize: vi.fn(authorize),
      allowedOrigins,
    };
    return cancelResponse(cursor, { agentId: "bc-1", id: "run-1" }, options).then((response) => ({
      status: response.status,
      sent: requests.length,
      asked: vi.mocked(options.authorize).mock.calls.length,
    }));
  };
  const allowed = { status: 200, sent: 1, asked: 1 };
  const refused = { status: 403, sent: 0, asked: 0 };

  it.each<[string, Record<string, string>]>([
    ["a page of this site", { "sec-fetch-site": "same-origin", origin: site }],
    [
      "a page of this site, behind a proxy of another name",
      { "sec-fetch-site": "same-origin", origin: "https://public.example" },
    ],
    ["an older browser", { origin: site }],
    ["an older browser, behind a proxy that ends TLS", { origin: "http://app.example" }],
    [
      "an older browser, where the server knows its public name",
      { origin: "https://public.example", host: "public.example" },
    ],
    ["a program", {}],
  ])("%s may", async (_, headers) => {
    expect(await from(headers)).toEqual(allowed);
  });

  it.each<[string, Record<string, string>]>([
    ["another site", { "sec-fetch-site": "cross-site", origin: "https://evil.example" }],
    ["a sibling", { "sec-fetch-site": "same-site", origin: "https://blog.app.example" }],
    ["another port", { origin: "https://app.example:8443" }],
    ["an older browser on another site", { origin: "https://evil.example" }],
    ["a sandboxed frame", { origin: "null" }],
    ["one that says this origin, of another site", { "sec-fetch-site": "cross-site", origin: site }],
    ["a name that ends alike", { origin: "https://evilapp.example" }],
  ])("%s may not: 403, with nobody asked", async (_, headers) => {
    expect(await from(headers)).toEqual(refused);
  });

  it("but of those that were allowed, by their whole origin", async () => {
    const headers = { "sec-fetch-site": "cross-site", origin: "https://front.example" };
    expect(await from(headers, ["https://front.example"])).toEqual(allowed);
    expect(
      await from({ ...headers, origin: "https://front.example.evil" }, ["https://front.example"]),
    ).toEqual(refused);
  });

  it.each([["*"], ["app.example"], ["https://app.example/"], [7]])("%s is no origin", async (origin) => {
    await expect(from({}, [origin as string])).rejects.toMatchObject({ argument: "allowedOrigins" });
  });

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
  ])("a form can't: %s is 415", async (type) => {
    expect(await from({ "content-type": type })).toMatchObject({ status: 415, sent: 0 });
  });
});

describe("artifacts", () => {
  function withArtifacts() {
    const all = stage();
    const { agent } = all.start("quick");
    all.emulator.addArtifact(agent.id, "artifacts/report.md", "# Report", "text/html");
    all.emulator.addArtifact(agent.id, "artifacts/a 'b'/ü.txt", "hi", "text/plain");
    return { ...all, agent };
  }

  it("are listed", async () => {
    const { cursor, agent } = withArtifacts();
    const response = await artifactsResponse(cursor, agent.id, { request: get(), authorize });
    expect(response.status).toBe(200);
    const { items } = JSON.parse(await response.text());
    expect(items.map(({ path }: { path: string }) => path).sort()).toEqual([
      "artifacts/a 'b'/ü.txt",
      "artifacts/report.md",
    ]);
  });

  it("are given by a redirect to the storage, which nobody may keep", async () => {
    const { cursor, emulator, agent } = withArtifacts();
    const response = await artifactResponse(cursor, agent.id, "artifacts/report.md", {
      request: get(),
      authorize,
    });
    expect(response.status).toBe(302);
    expect([...response.headers.keys()]).toEqual(["cache-control", "location", "referrer-policy"]);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await (await emulator.fetch(response.headers.get("location")!)).text()).toBe("# Report");
  });

  it("or through the server: as a download that can't run as a page of the site", async () => {
    const { cursor, agent } = withArtifacts();
    const options = { request: get(), authorize, proxy: true };
    const response = await artifactResponse(cursor, agent.id, "artifacts/report.md", options);
    expect([response.status, await response.text()]).toEqual([200, "# Report"]);
    expect(Object.fromEntries(response.headers)).toEqual({
      "cache-control": "private, no-store",
      "content-disposition": "attachment; filename*=UTF-8''report.md",
      "content-length": "8",
      "content-security-policy": "default-src 'none'; sandbox",
      "content-type": "text/html",
      "x-content-type-options": "nosniff",
    });
    const other = await artifactResponse(cursor, agent.id, "artifacts/a 'b'/ü.txt", options);
    expect(other.headers.get("content-disposition")).toBe("attachment; filename*=UTF-8''%C3%BC.txt");
  });

  it("that are broken off in the middle break off here, too", async () => {
    const { cursor, emulator, agent, clock } = withArtifacts();
    let reads = 0;
    emulator.faults.cut("getArtifactBytes", { afterBytes: 3 });
    const isLater = ({ operationId }: { operationId?: string }) =>
      operationId === "getArtifactBytes" && reads++ > 0;
    emulator.faults.dropRequest(isLater, { times: Number.POSITIVE_INFINITY });
    const options = { request: get(), authorize, proxy: true };
    const response = await clock.run(artifactResponse(cursor, agent.id, "artifacts/report.md", options));
    await expect(clock.run(response.text())).rejects.toThrow();
  });

  it.each([
    undefined,
    null,
    "",
    "report.md",
    "/etc/passwd",
    "artifacts/",
    "artifacts/../secret",
    "artifacts/a/..",
    "artifacts/..\\x",
    "artifacts/a\nb",
  ])("outside artifacts/ are 404, with the API untouched: %j", async (path) => {
    const { cursor, requests } = fake([]);
    expect(await told(await artifactResponse(cursor, "bc-1", path, { request: get(), authorize }))).toEqual([
      404,
      "not_found",
    ]);
    expect(requests).toEqual([]);
  });

  it("that don't exist are 404", async () => {
    const { cursor, agent } = withArtifacts();
    for (const proxy of [false, true]) {
      const options = { request: get(), authorize, proxy };
      expect(await told(await artifactResponse(cursor, agent.id, "artifacts/none", options))).toEqual([
        404,
        "not_found",
      ]);
    }
  });
});

type Route = (
  cursor: Cursor,
  more: { authorize: () => boolean; method?: string; agentId?: string },
) => Promise<Response>;
const routes: [string, "GET" | "POST", Route][] = [
  [
    "followUpResponse",
    "POST",
    (cursor, { method = "POST", agentId = "bc-1", ...more }) =>
      followUpResponse(cursor, agentId, {
        request: method === "POST" ? post({ prompt: "x" }) : get({ method }),
        ...more,
      }),
  ],
  [
    "cancelResponse",
    "POST",
    (cursor, { method = "POST", agentId = "bc-1", ...more }) =>
      cancelResponse(
        cursor,
        { agentId, id: "run-1" },
        { request: method === "POST" ? post({}) : get({ method }), ...more },
      ),
  ],
  [
    "artifactsResponse",
    "GET",
    (cursor, { method = "GET", agentId = "bc-1", ...more }) =>
      artifactsResponse(cursor, agentId, { request: get({ method }), ...more }),
  ],
  [
    "artifactResponse",
    "GET",
    (cursor, { method = "GET", agentId = "bc-1", ...more }) =>
      artifactResponse(cursor, agentId, "artifacts/a", { request: get({ method }), ...more }),
  ],
];

describe.each(routes)("%s", (_, method, route) => {
  it("lets in who is authorized, and nobody else", async () => {
    const { cursor, requests } = fake([]);
    expect(await told(await route(cursor, { authorize: () => false }))).toEqual([404, "not_found"]);
    await expect(route(cursor, {} as never)).rejects.toMatchObject({ argument: "authorize" });
    await expect(
      route(cursor, {
        authorize: () => {
          throw new Error("no session");
        },
      }),
    ).rejects.toThrow("no session");
    expect(await told(await route(cursor, { authorize, agentId: "bc-1/.." }))).toEqual([404, "not_found"]);
    expect(requests).toEqual([]);
  });

  it("takes its own method, and says so of others", async () => {
    const { cursor, requests } = fake([]);
    for (const other of ["PUT", "DELETE", "HEAD", method === "GET" ? "PATCH" : "GET"]) {
      const response = await route(cursor, { authorize, method: other });
      expect([response.status, response.headers.get("allow")]).toEqual([405, `${method}, OPTIONS`]);
    }
    expect((await route(cursor, { authorize, method: "OPTIONS" })).status).toBe(204);
    expect(requests).toEqual([]);
  });

  it.each([
    [401, "unauthorized", 502, "upstream_refused"],
    [403, "feature_unavailable", 502, "upstream_refused"],
    [404, "agent_not_found", 404, "not_found"],
    [409, "agent_archived", 409, "agent_archived"],
    [409, "something_new", 409, "conflict"],
    [400, "validation_error", 400, "invalid_request"],
    [429, "usage_limit_exceeded", 503, "usage_limit_exceeded"],
  ])("%i %s of the API is %i %s here, in our own words", async (status, code, own, expected) => {
    const { cursor, run } = fake(reply(status, { error: { code, message: "planted words" } }));
    const response = await run(route(cursor, { authorize }));
    const text = await response.text();
    expect([response.status, JSON.parse(text).error.code]).toEqual([own, expected]);
    expect(text).not.toContain("planted");
  });

  it("keeps the Retry-After of a 429", async () => {
    const { cursor, run } = fake(reply(429, "", { "retry-after": "90" }));
    const response = await run(route(cursor, { authorize }));
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "90"]);
  });
});
