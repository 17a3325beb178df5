import { describe, expect, it } from "vitest";
import { listen, send } from "../support/loopback-server.ts";
import { agent, agentId, ref, run } from "../support/sample-run.ts";
import { failure, until } from "../support/waiting.ts";

// What only real sockets show: raw request lines, kept-alive connections, redirects that fetch would follow.

describe("paths and queries on the wire", () => {
  it.each([
    ["a/1", "a%2F1"],
    ["a?x=1", "a%3Fx%3D1"],
    ["a#f", "a%23f"],
    ["a%2F1", "a%252F1"],
    ["a 1", "a%201"],
    ["a&b=c", "a%26b%3Dc"],
    ["пул-1", "%D0%BF%D1%83%D0%BB-1"],
    ["...", "..."],
    ["..%2f", "..%252f"],
    ["a\\b", "a%5Cb"],
  ])("the id %s is one segment, encoded once: %s", async (id, encoded) => {
    const server = await listen((_, response) => send(response, 200, { ...agent, id, items: [] }));
    const cursor = server.cursor();
    await cursor.agents.get(id);
    await cursor.runs.get({ agentId: id, id });
    await cursor.artifacts.list(id);
    expect(server.requests.map(({ target }) => target)).toEqual([
      `/v1/agents/${encoded}`,
      `/v1/agents/${encoded}/runs/${encoded}`,
      `/v1/agents/${encoded}/artifacts`,
    ]);
  });

  it.each(["artifacts/a b+c&d#é%20.png", "artifacts/?x=1", "artifacts/..", "artifacts/a=b;c,d", " "])(
    "the query value %j arrives as it is, for decoders of both schools",
    async (path) => {
      const server = await listen((_, response) => send(response, 200, { url: "https://s/", expiresAt: "" }));
      await server.cursor().artifacts.url(agentId, path);
      const query = server.requests[0]!.target.split("?")[1]!;
      expect([...new URLSearchParams(query)]).toEqual([["path", path]]);
      expect(decodeURIComponent(query.slice("path=".length))).toBe(path);
      expect(query).not.toContain("+");
    },
  );

  it("opaque cursors and addresses keep every character", async () => {
    const prUrl = "https://github.com/o/r/pull/1?x=1&y=2";
    const cursors = ["a+b/c==", "x&limit=1"];
    const server = await listen((_, response, count) =>
      send(response, 200, { items: [{ id: `bc-${count}` }], nextCursor: cursors[count - 1] }),
    );
    const ids = [];
    for await (const { id } of server.cursor().agents.list({ prUrl, limit: 1 })) ids.push(id);
    expect(ids).toEqual(["bc-1", "bc-2", "bc-3"]);
    const seen = server.requests.map(({ target }) =>
      Object.fromEntries(new URL(target, server.origin).searchParams),
    );
    expect(seen).toEqual(
      [undefined, ...cursors].map((cursor) => ({ prUrl, limit: "1", ...(cursor && { cursor }) })),
    );
  });

  it("what was left out is not in the query", async () => {
    const server = await listen((_, response) => send(response, 200, { items: [] }));
    const cursor = server.cursor();
    await cursor.agents.list({ cursor: undefined, prUrl: null as never, limit: 20 });
    await cursor.agents.list({ cursor: "" });
    await cursor.agents.list({ includeArchived: false });
    await cursor.runs.list(agentId, { limit: undefined });
    await cursor.usage.get(agentId, { runId: undefined });
    expect(server.requests.map(({ target }) => target)).toEqual([
      "/v1/agents?limit=20",
      "/v1/agents",
      "/v1/agents?includeArchived=false",
      `/v1/agents/${agentId}/runs`,
      `/v1/agents/${agentId}/usage`,
    ]);
  });

  it("a path in baseUrl is a prefix, whatever slashes it ends in", async () => {
    const server = await listen((_, response) => send(response, 200, { apiKeyName: "k" }));
    await server.cursor({ baseUrl: `${server.origin}/proxy/cursor//` }).me();
    expect(server.requests[0]!.target).toBe("/proxy/cursor/v1/me");
  });

  it("a POST without a body has neither body nor content type", async () => {
    const server = await listen((_, response) => send(response, 200, { id: "x" }));
    const cursor = server.cursor();
    await cursor.agents.archive(agentId);
    await cursor.agents.unarchive(agentId);
    await cursor.runs.cancel(ref);
    for (const { headers, body } of server.requests) {
      expect([body, headers["content-type"], headers["content-length"]]).toEqual(["", undefined, "0"]);
    }
  });
});

describe("a connection that breaks", () => {
  it("after the server took a follow-up: sent once, outcome unknown", async () => {
    let made = 0;
    const server = await listen((request, response) => {
      if (request.method === "GET") return send(response, 200, agent);
      made += 1;
      return response.destroy();
    });
    const cursor = server.cursor();
    await cursor.agents.get(agentId);
    const error = await failure(cursor.runs.create(agentId, { prompt: "x" }));
    expect([error.kind, error.outcome, error.agentId, made]).toEqual(["connection", "unknown", agentId, 1]);
  });

  it("before a GET is answered: sent again", async () => {
    const server = await listen((_, response, count) =>
      count < 3 ? response.destroy() : send(response, 200, agent),
    );
    expect((await server.cursor().agents.get(agentId)).id).toBe(agentId);
    expect(server.requests).toHaveLength(3);
  });

  it("inside the body of a GET: sent again; of a follow-up: unknown", async () => {
    const server = await listen((request, response, count) => {
      if (count > 1 && request.method === "GET") return send(response, 200, agent);
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"id":');
      return setImmediate(() => response.destroy());
    });
    expect((await server.cursor().agents.get(agentId)).id).toBe(agentId);
    const error = await failure(server.cursor().runs.create(agentId, { prompt: "x" }));
    expect([error.kind, error.outcome, server.requests.length]).toEqual(["connection", "unknown", 3]);
  });

  it("that was idle is not reported as a bad key: only a 401 of the server is", async () => {
    const server = await listen((_, response, count) => {
      if (count === 2) return response.destroy();
      return count === 4
        ? send(response, 401, { error: { code: "unauthorized", message: "m" } })
        : send(response, 200, agent);
    });
    const cursor = server.cursor();
    await cursor.agents.get(agentId);
    await cursor.agents.get(agentId);
    expect(server.requests).toHaveLength(3);
    expect(await failure(cursor.agents.get(agentId))).toMatchObject({ kind: "api", code: "unauthorized" });
    expect(server.requests).toHaveLength(4);
  });
});

describe("sockets are released", () => {
  it("after an error response whose body never ends", async () => {
    let closed = 0;
    const server = await listen((_, response, count) => {
      if (count > 1) return send(response, 200, agent);
      response.on("close", () => closed++);
      response.writeHead(503, { "retry-after": "0" });
      return response.write("x".repeat(256 * 1024)); // and the rest never comes
    });
    expect((await server.cursor().agents.get(agentId)).id).toBe(agentId);
    await until(() => closed === 1);
  });

  it("by an abort inside a body", async () => {
    let closed = 0;
    const server = await listen((_, response) => {
      response.on("close", () => closed++);
      response.writeHead(200, { "content-type": "application/json" });
      response.write("{");
    });
    const controller = new AbortController();
    const call = failure(server.cursor().agents.get(agentId, { signal: controller.signal }));
    await until(() => server.requests.length === 1);
    controller.abort("enough");
    expect(await call).toBe("enough");
    await until(() => closed === 1);
  });
});

describe("a redirect is never followed", () => {
  it.each([301, 302, 303, 307, 308])("%i to another host, for GET, create and stream", async (status) => {
    const other = await listen((_, response) => send(response, 200, { agent, run }));
    const server = await listen((_, response) =>
      response.writeHead(status, { location: `http://localhost:${other.port}/x` }).end(),
    );
    const cursor = server.cursor({ headers: { "x-team": "1" } });
    const calls = [
      cursor.agents.get(agentId),
      cursor.agents.create({ prompt: "secret prompt", envVars: { TOKEN: "hush" } }),
      cursor.runs.stream(ref).result(),
    ];
    for (const call of calls) {
      const error = await failure(call);
      expect([error.name, error.code, error.status]).toEqual(["ApiError", "redirect_refused", status]);
      expect(error.message).toContain(`redirects to localhost:${other.port}, not followed`);
    }
    expect([server.requests.length, other.requests.length]).toEqual([3, 0]);
  });

  it("not even to the same host, in a loop, to http or to an invalid address", async () => {
    for (const location of ["/v1/me", "http://example.com/v1/me", "::::", undefined]) {
      const server = await listen((_, response) =>
        response.writeHead(308, location === undefined ? {} : { location }).end(),
      );
      expect((await failure(server.cursor().me())).code).toBe("redirect_refused");
      expect(server.requests).toHaveLength(1);
    }
  });

  it("a 304 to a request without conditions is an error, too", async () => {
    const server = await listen((_, response) => response.writeHead(304).end());
    expect((await failure(server.cursor().me())).status).toBe(304);
  });
});
