import { isArgumentError } from "cursor-cloud-agents";
import { runStreamResponse } from "cursor-cloud-agents/serve";
import { describe, expect, it, vi } from "vitest";
import { assistant, done, END, ref, result, runId, StreamServer, status } from "../support/stream-server.ts";
import { ask, path, served } from "./support.ts";

const whole = [status(), assistant("1-0", "Hel"), assistant("2-0", "lo"), result(), done];

describe("who may", () => {
  it.each([
    ["left out", undefined],
    ["null", null],
    ["true", true],
  ])("must be said: authorize that is %s is an error, and the API is not touched", async (_, authorize) => {
    const server = new StreamServer([END(...whole)]);
    const error = await ask(server, { authorize: authorize as never }).catch((thrown: unknown) => thrown);
    expect(isArgumentError(error) && error.argument).toBe("authorize");
    expect(server.requests).toEqual([]);
  });

  it.each([
    ["false", false],
    ["a promise of false", Promise.resolve(false)],
    ["nothing", undefined],
    ["something truthy", 1],
    ["a user", { id: 7 }],
  ])("is nobody but who gets true: %s is 404, with the API untouched", async (_, verdict) => {
    const server = new StreamServer([END(...whole)]);
    const { response, text } = await served(server, { authorize: () => verdict as boolean });
    expect(response.status).toBe(404);
    expect(JSON.parse(text)).toEqual({
      error: { code: "not_found", message: "Not found." },
    });
    expect(server.requests).toEqual([]);
  });

  it("may be told in a Response, which is sent as it is", async () => {
    const server = new StreamServer([END(...whole)]);
    const own = new Response("log in", { status: 401, headers: { "www-authenticate": "x" } });
    expect(await ask(server, { authorize: async () => own })).toBe(own);
    expect(server.requests).toEqual([]);
  });

  it("stays unsaid when authorize throws: so does the handler, with the API untouched", async () => {
    const server = new StreamServer([END(...whole)]);
    const thrown = new Error("session store down");
    await expect(ask(server, { authorize: () => Promise.reject(thrown) })).rejects.toBe(thrown);
    expect(server.requests).toEqual([]);
  });

  it("is asked first, of the request and the ids, also where the end was received", async () => {
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
  ])("is not even asked for what can't be an id: %s %j is 404", async (name, value) => {
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
