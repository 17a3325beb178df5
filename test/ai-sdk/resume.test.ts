import { Cursor, isApiError, isArgumentError, type RunRef } from "cursor-cloud-agents";
import {
  type ResumeUIMessageStreamOptions,
  resumeUIMessageStreamResponse,
  toUIMessageStreamResponse,
} from "cursor-cloud-agents/ai-sdk";
import { ManualClock } from "cursor-cloud-agents/emulator";
import { describe, expect, it } from "vitest";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { chunksOf, messagesOf, readerOf } from "./sse.ts";

async function stage() {
  const clock = new ManualClock();
  const emulator = checkedEmulator({ clock });
  const cursor = new Cursor({ apiKey: "test", baseUrl: emulator.baseUrl, fetch: emulator.fetch, clock });
  emulator.script(/./, (run) =>
    run
      .thinking("Looking.")
      .tool("read_file", { path: "a" }, { content: "b" })
      .text("Hel")
      .hold("rest")
      .text("lo")
      .finish({ branch: "cursor/x" }),
  );
  const { run } = await clock.run(cursor.agents.create({ prompt: "Add a README" }));
  const resume = (ref: RunRef | undefined | null = run, options: ResumeUIMessageStreamOptions = {}) =>
    clock.run(resumeUIMessageStreamResponse(cursor, ref, { clock, ...options }));
  return { clock, emulator, cursor, run, resume };
}

const operations = ({ emulator }: { emulator: ReturnType<typeof checkedEmulator> }) =>
  emulator.requests.map(({ operationId }) => operationId).slice(1);

/** The messages of a body without its comments, which depend on time. */
const messagesWithoutComments = (body: string) =>
  messagesOf(body).filter((message) => !message.startsWith(":"));

describe("204, since there is nothing to resume, is the answer for", () => {
  it.each([undefined, null])("a chat without a run (%s), and the API is not called", async (ref) => {
    const { emulator, cursor } = await stage();
    const response = await resumeUIMessageStreamResponse(cursor, ref);
    expect(response.status).toBe(204);
    expect(response.body).toBeNull();
    expect(operations({ emulator })).toEqual([]);
  });

  it("a run that is over", async () => {
    const { emulator, cursor, clock, run, resume } = await stage();
    emulator.release("rest");
    await clock.run(cursor.runs.wait(run));
    const before = operations({ emulator }).length;
    expect((await resume()).status).toBe(204);
    expect(operations({ emulator }).slice(before)).toEqual(["getRun"]);
  });

  it.each([false, true])("a run that no longer exists (replayFinished: %s)", async (replayFinished) => {
    const { cursor, clock, run, resume } = await stage();
    await clock.run(cursor.agents.delete(run.agentId));
    expect((await resume(run, { replayFinished })).status).toBe(204);
  });
});

describe("a run at work", () => {
  it("is sent from its start, byte by byte as the first time", async () => {
    const { emulator, cursor, clock, run, resume } = await stage();
    const first = readerOf(toUIMessageStreamResponse(cursor.runs.stream(run), { clock }));
    let seen = "";
    while (!seen.includes('"Hel"')) seen += await clock.run(first.next());
    await first.cancel();
    const resumed = await resume();
    expect(resumed.status).toBe(200);
    expect(resumed.headers.get("x-vercel-ai-ui-message-stream")).toBe("v1");
    const whole = resumed.text();
    const twin = (await resume()).text();
    emulator.release("rest");
    const body = await clock.run(whole);
    expect(body.startsWith(seen)).toBe(true);
    expect(chunksOf(body)[0]).toEqual({ type: "start", messageId: run.id });
    expect(chunksOf(body).at(-1)).toEqual({ type: "finish" });
    expect(await clock.run(twin)).toBe(body);
    // After its end, too: the terminal status that then opens the stream makes no difference.
    const later = await resume(run, { replayFinished: true });
    expect(await clock.run(later.text())).toBe(body);
    expect(emulator.connections).toBe(0);
  });

  it("is sent the same from its creation, however long that took", async () => {
    const clock = new ManualClock();
    const emulator = checkedEmulator({ clock, startDelayMs: 40_000 });
    const cursor = new Cursor({ apiKey: "test", baseUrl: emulator.baseUrl, fetch: emulator.fetch, clock });
    const { run } = await clock.run(cursor.agents.create({ prompt: "Add a README" }));
    const live = await clock.run(toUIMessageStreamResponse(cursor.runs.stream(run), { clock }).text());
    const replay = await clock.run(
      resumeUIMessageStreamResponse(cursor, run, { clock, replayFinished: true }),
    );
    expect(messagesWithoutComments(live)).toEqual(messagesWithoutComments(await clock.run(replay.text())));
  });

  it("whose stream is gone is sent as its final reply, once that exists", async () => {
    const { emulator, clock, run, resume } = await stage();
    emulator.expireStream(run.id);
    const response = await resume();
    const body = response.text();
    emulator.release("rest");
    const chunks = chunksOf(await clock.run(body));
    expect(chunks).toContainEqual({ type: "text-delta", id: "text-0", delta: "Hello" });
    expect(chunks.at(-1)).toEqual({ type: "finish" });
  });

  it("is not cancelled when the request is aborted", async () => {
    const { emulator, cursor, clock, run, resume } = await stage();
    const controller = new AbortController();
    const response = await resume(run, { signal: controller.signal });
    const reader = readerOf(response);
    for (let seen = ""; !seen.includes('"Hel"'); ) seen += await clock.run(reader.next());
    expect(emulator.connections).toBe(1);
    controller.abort();
    let rest = "";
    for (let piece: string | undefined = ""; piece !== undefined; ) {
      rest += piece;
      piece = await clock.run(reader.next());
    }
    expect(rest).toContain('"type":"error"');
    expect(emulator.connections).toBe(0);
    expect((await cursor.runs.get(run)).status).toBe("RUNNING");
  });
});

it("a run that is over and whose stream is gone is sent as its reply, with replayFinished", async () => {
  const { emulator, clock, cursor, run, resume } = await stage();
  emulator.release("rest");
  await clock.run(cursor.runs.wait(run));
  emulator.expireStream(run.id);
  const response = await resume(run, { replayFinished: true });
  const chunks = chunksOf(await clock.run(response.text()));
  expect(chunks).toContainEqual({ type: "text-delta", id: "text-0", delta: "Hello" });
});

it("each run is a message of its own, and two readers of the next one see it once each", async () => {
  const { emulator, clock, cursor, run, resume } = await stage();
  emulator.release("rest");
  await clock.run(cursor.runs.wait(run));
  emulator.script("more", (script) => script.text("two").hold("end").finish());
  const next = await clock.run(cursor.runs.create(run.agentId, { prompt: "more" }, { whenBusy: "wait" }));
  const bodies = [await resume(next), await resume(next)].map((response) => response.text());
  emulator.release("end");
  for (const body of bodies) {
    const chunks = chunksOf(await clock.run(body));
    expect(chunks[0]).toEqual({ type: "start", messageId: next.id });
    expect(chunks.filter(({ type }) => type === "text-delta")).toEqual([
      { type: "text-delta", id: "text-0", delta: "two" },
    ]);
  }
});

it("a key that may not see the run makes the call reject", async () => {
  const { emulator, resume } = await stage();
  emulator.faults.status("getRun", 401);
  await expect(resume()).rejects.toSatisfy((error) => isApiError(error) && error.status === 401);
});

it("an aborted request does not call the API", async () => {
  const { emulator, resume, run } = await stage();
  const reason = new Error("left");
  await expect(resume(run, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  expect(operations({ emulator })).toEqual([]);
});

it.each<[string, unknown, unknown, unknown]>([
  ["cursor", {}, undefined, {}],
  ["replayFinished", undefined, undefined, { replayFinished: "yes" }],
  ["keepAliveMs", undefined, undefined, { keepAliveMs: 1 }],
  ["signal", undefined, { agentId: "bc-1", id: "run-1" }, { signal: "x" }],
  ["keepAlive", undefined, { agentId: "bc-1", id: "run-1" }, { keepAlive: -1 }],
])("an invalid %s is rejected before anything is sent", async (argument, other, ref, options) => {
  const { emulator, cursor } = await stage();
  const call = resumeUIMessageStreamResponse((other ?? cursor) as Cursor, ref as RunRef, options as object);
  await expect(call).rejects.toSatisfy((error) => isArgumentError(error) && error.argument === argument);
  expect(operations({ emulator })).toEqual([]);
});
