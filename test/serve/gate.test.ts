import { isArgumentError } from "cursor-cloud-agents";
import {
  cancelResponse,
  rejectionOf,
  runStreamResponse,
  type ServePostOptions,
} from "cursor-cloud-agents/serve";
import { describe, expect, it, vi } from "vitest";
import { END, fake, reply } from "../support/fake-api.ts";
import { assistant, done, result, status } from "../support/frames.ts";
import { ref, runId } from "../support/sample-run.ts";
import { StreamServer } from "../support/stream-server.ts";

import { authorize, codeOf, site } from "./stage.ts";
import { ask, path, served } from "./support.ts";

const whole = [status(), assistant("1-0", "Hel"), assistant("2-0", "lo"), result(), done];

describe("authorize", () => {
  it.each([
    ["left out", undefined],
    ["null", null],
    ["true", true],
  ])("that is %s is an error, and the API is not called", async (_, authorize) => {
    const server = new StreamServer([END(...whole)]);
    const error = await ask(server, { authorize: authorize as never }).catch((thrown: unknown) => thrown);
    expect(isArgumentError(error) && error.argument).toBe("authorize");
    expect(server.requests).toEqual([]);
  });

  it.each([
    ["false", false],
    ["a promise of false", Promise.resolve(false)],
    ["nothing", undefined],
    ["null", null],
  ])("lets through only true: %s is answered with 404, and the API is not called", async (_, verdict) => {
    const server = new StreamServer([END(...whole)]);
    const { response, text } = await served(server, { authorize: () => verdict as boolean });
    expect(response.status).toBe(404);
    expect(JSON.parse(text)).toEqual({
      error: { code: "not_found", message: "Not found." },
    });
    expect(server.requests).toEqual([]);
  });

  it.each([
    ["something truthy", 1],
    ["a text", "yes"],
    ["an empty text", ""],
    ["a user", { id: 7 }],
    ["a promise of a user", Promise.resolve({ id: 7 })],
    ["a function", () => true],
  ])("that returns %s is an error, and the API is not called", async (_, verdict) => {
    const server = new StreamServer([END(...whole)]);
    const asked = ask(server, { authorize: () => verdict as unknown as boolean });
    const error = await asked.catch((thrown: unknown) => thrown);
    expect(isArgumentError(error) && error.argument).toBe("authorize");
    expect(String(error)).toContain("true, false or a Response");
    expect(server.requests).toEqual([]);
  });

  it("may return a Response, which is sent as it is", async () => {
    const server = new StreamServer([END(...whole)]);
    const own = new Response("log in", { status: 401, headers: { "www-authenticate": "x" } });
    expect(await ask(server, { authorize: async () => own })).toBe(own);
    expect(server.requests).toEqual([]);
  });

  it("that throws makes the route reject with the same error, and the API is not called", async () => {
    const server = new StreamServer([END(...whole)]);
    const thrown = new Error("session store down");
    await expect(ask(server, { authorize: () => Promise.reject(thrown) })).rejects.toBe(thrown);
    expect(server.requests).toEqual([]);
  });

  it("is called first, with the request and the ids, even when the browser has received the end", async () => {
    const server = new StreamServer([END(...whole)]);
    const authorize = vi.fn(() => false);
    expect((await served(server, { lastEventId: `end:${runId}`, authorize })).response.status).toBe(404);
    const [request, asked] = authorize.mock.calls[0] as unknown as [Request, unknown];
    expect(request.url).toBe(path);
    expect(asked).toEqual(ref);
  });

  it.each([
    ["agentId", "bc-.."],
    ["agentId", "bc-1/../bc-2"],
    ["agentId", "bc-1%2f"],
    ["agentId", "run-1"],
    ["agentId", ""],
    ["agentId", undefined],
    ["agentId", ["bc-1"]],
    ["agentId", `bc-${"1".repeat(129)}`],
    ["id", "bc-1"],
    ["id", "run-1\nx"],
    ["id", "run-1?x"],
    ["id", "run- 1"],
    ["id", null],
    ["id", ["run-1"]],
  ])("is not called for an id that is not well-formed: %s %j is answered with 404", async (name, value) => {
    const server = new StreamServer([END(...whole)]);
    const authorize = vi.fn(() => true);
    const request = new Request(path);
    const odd = { ...ref, [name]: value } as never;
    const response = await runStreamResponse(server.cursor(), odd, { request, authorize });
    expect(response.status).toBe(404);
    expect(authorize).not.toHaveBeenCalled();
    expect(server.requests).toEqual([]);
  });
});

describe("a route that changes something rejects requests of other sites", () => {
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
  const rejected = { status: 403, sent: 0, asked: 0 };

  it.each<[string, Record<string, string>]>([
    ["a page of this site", { "sec-fetch-site": "same-origin", origin: site }],
    [
      "a page of this site, behind a proxy of another name",
      { "sec-fetch-site": "same-origin", origin: "https://public.example" },
    ],
    ["an older browser", { origin: site }],
    ["an older browser, behind a proxy that ends TLS", { origin: "http://app.example" }],
    [
      "an older browser, where the Host header has the public name",
      { origin: "https://public.example", host: "public.example" },
    ],
    ["an older browser, whose Host header has the default port", { origin: site, host: "app.example:443" }],
    ["an older browser on http, likewise", { origin: "http://app.example", host: "app.example:80" }],
    ["an older browser, in other letters", { origin: "https://public.example", host: "PUBLIC.example" }],
    ["a program", {}],
  ])("a request of %s is accepted", async (_, headers) => {
    expect(await from(headers)).toEqual(allowed);
  });

  it.each<[string, Record<string, string>]>([
    ["another site", { "sec-fetch-site": "cross-site", origin: "https://evil.example" }],
    ["a sibling", { "sec-fetch-site": "same-site", origin: "https://blog.app.example" }],
    ["another port", { origin: "https://app.example:8443" }],
    ["another scheme's default port", { origin: site, host: "app.example:80" }],
    ["a Host header that is no host", { origin: site, host: "app.example/x y" }],
    ["an older browser on another site", { origin: "https://evil.example" }],
    ["a sandboxed frame", { origin: "null" }],
    ["another site that claims this origin", { "sec-fetch-site": "cross-site", origin: site }],
    ["a name with the same ending", { origin: "https://evilapp.example" }],
  ])("a request of %s is answered with 403, and authorize is not called", async (_, headers) => {
    expect(await from(headers)).toEqual(rejected);
  });

  it("a request of an allowed origin is accepted, compared by its whole origin", async () => {
    const headers = { "sec-fetch-site": "cross-site", origin: "https://front.example" };
    expect(await from(headers, ["https://front.example"])).toEqual(allowed);
    expect(
      await from({ ...headers, origin: "https://front.example.evil" }, ["https://front.example"]),
    ).toEqual(rejected);
  });

  it.each([["*"], ["app.example"], ["https://app.example/"], [7]])(
    "%s is not a valid origin",
    async (origin) => {
      await expect(from({}, [origin as string])).rejects.toMatchObject({ argument: "allowedOrigins" });
    },
  );

  it.each([
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
  ])("a form can't post: %s is answered with 415", async (type) => {
    expect(await from({ "content-type": type })).toMatchObject({ status: 415, sent: 0 });
  });
});

describe("rejectionOf, for routes of one's own", () => {
  const request = (headers: Record<string, string>) =>
    new Request(`${site}/api/chat`, { method: "POST", headers, body: "{}" });
  const json = { "content-type": "application/json" };

  it("lets a request of this site pass, and one of an allowed origin", () => {
    expect(rejectionOf(request({ ...json, origin: site }))).toBeUndefined();
    const front = request({ ...json, origin: "https://front.example", "sec-fetch-site": "cross-site" });
    expect(rejectionOf(front)?.status).toBe(403);
    expect(rejectionOf(front, { allowedOrigins: ["https://front.example"] })).toBeUndefined();
  });

  it("returns the answer for a request of another site, and for a form", async () => {
    const foreign = rejectionOf(request({ "content-type": "text/plain", "sec-fetch-site": "cross-site" }));
    expect(await codeOf(foreign!)).toEqual([403, "cross_origin"]);
    expect(await codeOf(rejectionOf(request({ "content-type": "text/plain" }))!)).toEqual([
      415,
      "unsupported_media_type",
    ]);
  });

  it.each([
    ["request", [undefined]],
    ["request", [{}]],
    ["allowedOrigins", [request({}), { allowedOrigins: "https://front.example" }]],
    ["authorize", [request({}), { authorize }]],
  ])("rejects a wrong %s", (argument, values) => {
    expect(() => rejectionOf(...(values as Parameters<typeof rejectionOf>))).toThrow(
      expect.objectContaining({ argument }),
    );
  });
});
