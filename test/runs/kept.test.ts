import { describe, expect, it } from "vitest";
import { END, failedResponse, htmlPage, REPEAT } from "../support/fake-api.ts";
import { assistant, briefly, done, result, status } from "../support/frames.ts";
import { ref } from "../support/sample-run.ts";
import { StreamServer } from "../support/stream-server.ts";
import { collect } from "../support/waiting.ts";

const frames = [assistant("0", "a"), assistant("1", "b"), assistant("2", "c"), result({}, "9") + done];
const resuming = () =>
  new StreamServer(({ lastEventId }) => {
    const at = frames.findIndex((text) => text.startsWith(`id: ${lastEventId}\n`));
    return END(status(), ...frames.slice(at + 1));
  });

describe("a checkpoint", () => {
  it("stands where the consumer left, whatever result() reads after that", async () => {
    const server = resuming();
    const stream = server.cursor().runs.stream(ref);
    for await (const event of stream) if (event.id === "0") break;
    const before = stream.checkpoint();
    expect(before.lastEventId).toBe("0");
    await server.run(stream.result());
    expect(stream.checkpoint()).toEqual(before);
    expect(stream.lastEventId).toBe("0");
    const rest = await server.run(collect(server.cursor().runs.stream(ref, { from: before })));
    expect(rest.flatMap(({ id }) => id ?? [])).toEqual(["1", "2", "9", expect.any(String)]);
  });

  it("stays at the start where only result() reads", async () => {
    const server = resuming();
    const stream = server.cursor().runs.stream(ref);
    const before = stream.checkpoint();
    await server.run(stream.result());
    expect(stream.checkpoint()).toEqual(before);
  });
});

describe("the text of a reply", () => {
  const flood = () => REPEAT(status(), assistant("100-0", "x".repeat(64 * 1024)));

  it("is not collected without end while nobody asks for it", async () => {
    const server = new StreamServer([flood()]);
    const stream = server.cursor().runs.stream(ref);
    let count = 0;
    for await (const event of stream) if (event.type === "assistant" && ++count === 20) break;
    await expect(server.run(stream.result())).rejects.toMatchObject({ reason: "reply_too_large" });
    expect(server.openBodies).toBe(0);
  });

  it("has a limit where somebody asks for it", async () => {
    const server = new StreamServer([flood()]);
    await expect(server.run(server.cursor().runs.stream(ref).result())).rejects.toMatchObject({
      kind: "stream",
      reason: "reply_too_large",
    });
    expect(server.openBodies).toBe(0);
  });
});

describe("wait() whose outcome the stream has delivered", () => {
  it.each([401, 403, 404, 500, 503])("keeps it where Get A Run answers %i", async (code) => {
    const server = new StreamServer([END(result(), done)], { runs: [htmlPage(code)] });
    for (const options of [{}, { throwOnFailure: true }, { timeout: 10_000 }]) {
      const next = new StreamServer([END(result(), done)], { runs: [htmlPage(code)] });
      const run = await next.run(next.cursor().runs.wait(ref, options));
      expect(run).toMatchObject({ ...ref, status: "FINISHED", result: "Hello", durationMs: 10 });
      expect(next.clock.pending).toBe(0);
    }
    expect(server.requests).toHaveLength(0);
  });
});

it("a rejected position keeps the server's code", async () => {
  const server = new StreamServer([failedResponse(400, "invalid_last_event_id")]);
  await expect(
    server.run(collect(server.cursor().runs.stream(ref, { from: "777-0" }))),
  ).rejects.toMatchObject({ reason: "invalid_position", code: "invalid_last_event_id" });
});

it.each(["\r", "\r\n", "\n"])("lines that end in %j are read in linear time, a line a chunk", async (end) => {
  const lines = Array(30_000).fill(`: ${"x".repeat(30)}${end}`);
  const text = (result() + done).replaceAll("\n", end);
  const began = performance.now();
  const server = new StreamServer([END(...lines, text)]);
  expect(briefly(await server.run(collect(server.cursor().runs.stream(ref))))).toEqual([
    "result#900-0 Hello",
    "done#900-0",
  ]);
  expect(performance.now() - began).toBeLessThan(15_000);
});
