import { isArgumentError } from "cursor-cloud-agents";
import { followUpResponse } from "cursor-cloud-agents/serve";
import { describe, expect, it, vi } from "vitest";
import { fake, reply } from "../support/fake-api.ts";

import { authorize, codeOf, post, stage } from "./stage.ts";

describe("a follow-up", () => {
  it("creates a run, whose stream can be read", async () => {
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

  it("accepts a prompt with images and the parameters of the server, and nothing else", async () => {
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
    expect(await codeOf(await followUpResponse(cursor, "bc-1", { ...options, request: smuggled }))).toEqual([
      400,
      "invalid_request",
    ]);
    expect(requests).toHaveLength(1);
  });

  it.each([
    ["not JSON", "{"],
    ["an empty body", ""],
    ["null", null],
    ["a list", []],
    ["no prompt", {}],
    ["an empty prompt", { prompt: "" }],
    ["a number", { prompt: 7 }],
    ["no text", { prompt: { text: 7 } }],
    ["a prompt with other fields", { prompt: { text: "x", mcpServers: [] } }],
    ["a prompt with a __proto__ field", '{"prompt":{"text":"x","__proto__":{}}}'],
    ["deeply nested", `{"prompt":{"text":"x","y":${"[".repeat(20_000)}${"]".repeat(20_000)}}}`],
    ["a broken image", { prompt: { text: "x", images: [{}] } }],
    ["not valid UTF-8", new Blob([Uint8Array.of(0xff)]).stream()],
  ])("that is %s is answered with 400, and the API is not called", async (_, body) => {
    const { cursor, requests } = fake([]);
    const request = post(body, {}, { duplex: "half" });
    expect(await codeOf(await followUpResponse(cursor, "bc-1", { request, authorize }))).toEqual([
      400,
      "invalid_request",
    ]);
    expect(requests).toEqual([]);
  });

  it("has a size limit, whatever length it claims, and is not read beyond it", async () => {
    const { cursor, requests } = fake([]);
    const claimed = post({ prompt: "x".repeat(2_000_000) });
    expect(await codeOf(await followUpResponse(cursor, "bc-1", { request: claimed, authorize }))).toEqual([
      413,
      "body_too_large",
    ]);
    let pulled = 0;
    let isLetGo = false;
    const endless = new ReadableStream({
      pull: (controller) => {
        pulled++;
        controller.enqueue(new Uint8Array(1000).fill(32));
      },
      cancel: () => {
        isLetGo = true;
      },
    });
    const request = post(endless, {}, { duplex: "half" });
    const response = await followUpResponse(cursor, "bc-1", { request, authorize, maxBodyBytes: 10_000 });
    expect(await codeOf(response)).toEqual([413, "body_too_large"]);
    expect(pulled).toBeLessThan(20);
    expect(isLetGo).toBe(true);
    expect(requests).toEqual([]);
  });

  it("to a busy agent is answered with 409, waits, or cancels, as the server decides", async () => {
    const { cursor, emulator, clock, start } = stage();
    const { agent, run } = start("hold");
    const ask = (whenBusy?: "wait" | "cancel") =>
      followUpResponse(cursor, agent.id, { request: post({ prompt: "quick" }), authorize, whenBusy });
    expect(await codeOf(await clock.run(ask()))).toEqual([409, "agent_busy"]);
    const waiting = ask("wait");
    await clock.advance(20_000);
    emulator.release("gate");
    expect((await clock.run(waiting)).status).toBe(201);
    expect(emulator.runs(agent.id).find(({ id }) => id === run.id)?.status).toBe("FINISHED");
    expect(
      await codeOf(
        await clock
          .run(ask("typo" as never))
          .catch((error: unknown) =>
            Response.json({ error: { code: isArgumentError(error) && error.argument } }),
          ),
      ),
    ).toEqual([200, "whenBusy"]);
  });

  it("that waits is dropped when the browser leaves, and is not sent afterwards", async () => {
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

  it("whose outcome is not known is answered with outcome_unknown", async () => {
    const { cursor, emulator, clock, start } = stage();
    const { agent } = start("quick");
    await clock.advance(5_000);
    emulator.faults.dropAnswer("createRun");
    const onError = vi.fn();
    const request = post({ prompt: "quick" });
    const response = await clock.run(followUpResponse(cursor, agent.id, { request, authorize, onError }));
    expect(await codeOf(response)).toEqual([502, "outcome_unknown"]);
    expect(onError).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ outcome: "unknown" }));
    expect(emulator.runs(agent.id)).toHaveLength(2);
  });
});
