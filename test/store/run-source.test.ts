import { Cursor, isApiError, isArgumentError } from "cursor-cloud-agents";
import { CursorEmulator, ManualClock } from "cursor-cloud-agents/emulator";
import { createRunStore, memoryStorage, runSource } from "cursor-cloud-agents/store";
import { describe, expect, it } from "vitest";
import { CUT, END, failedResponse } from "../support/fake-api.ts";
import { assistant, done, result, status } from "../support/frames.ts";
import { agentId, ref, runId } from "../support/sample-run.ts";
import { StreamServer } from "../support/stream-server.ts";
import { settle } from "../support/waiting.ts";

/** Follows a run to its end, or to what ends it. */
async function follow(server: StreamServer, storage = memoryStorage()) {
  const store = createRunStore(runSource(server.cursor(), ref), { storage, clock: server.clock });
  const connections: string[] = [];
  await server.run(
    new Promise<void>((resolve) => {
      store.subscribe(() => {
        const { connection, status } = store.getSnapshot();
        connections.push(connection);
        if (status === "ready" || status === "error") resolve();
      });
    }),
  );
  return { store, connections, ...store.getSnapshot() };
}

describe("a run straight from the API", () => {
  it("is followed over cuts to its outcome, under its own id", async () => {
    const server = new StreamServer([
      CUT(status(), assistant("1", "Hel")),
      END(status(), assistant("2", "lo"), result(), done),
    ]);
    const { store, text, status: word, result: outcome, connections } = await follow(server);
    expect(store.key).toBe(runId);
    expect([word, text, outcome?.status]).toEqual(["ready", "Hello", "FINISHED"]);
    expect(connections).toContain("reconnecting");
    expect(server.positions).toEqual([undefined, "1"]);
    await settle();
    expect(server.openBodies).toBe(0);
  });

  it("continues in another process from the saved position", async () => {
    const storage = memoryStorage();
    const first = new StreamServer([
      END(status(), assistant("1", "Hel")),
      failedResponse(401, "unauthorized"),
    ]);
    expect((await follow(first, storage)).error).toSatisfy(isApiError);
    const second = new StreamServer([END(status(), assistant("2", "lo"), result(), done)]);
    expect((await follow(second, storage)).text).toBe("Hello");
    expect(second.positions).toEqual(["1"]);
  });

  it("starts again, and shows everything once, where the server no longer knows the position", async () => {
    const storage = memoryStorage();
    const first = new StreamServer([
      END(status(), assistant("1", "Hel")),
      failedResponse(401, "unauthorized"),
    ]);
    await follow(first, storage);
    const second = new StreamServer([
      failedResponse(400, "invalid_last_event_id"),
      END(status(), assistant("a", "Hello"), result(), done),
    ]);
    const { text, parts } = await follow(second, storage);
    expect(second.positions).toEqual(["1", undefined]);
    expect([text, parts.length]).toEqual(["Hello", 1]);
  });

  it("takes its whole text from Get A Run where the stream is gone", async () => {
    const storage = memoryStorage();
    const first = new StreamServer([
      END(status(), assistant("1", "Hel")),
      failedResponse(401, "unauthorized"),
    ]);
    await follow(first, storage);
    const second = new StreamServer([failedResponse(410, "stream_expired")], {
      runs: [{ id: runId, agentId, status: "FINISHED", result: "Hello" }],
    });
    expect((await follow(second, storage)).text).toBe("Hello");
  });

  it("is rejected before anything is sent where an option can't work", () => {
    const server = new StreamServer([]);
    for (const [argument, call] of [
      ["idleTimeout", () => runSource(server.cursor(), ref, { idleTimeout: -1 })],
      ["ref.id", () => runSource(server.cursor(), { agentId, id: "" })],
    ] as const) {
      expect(call).toThrow(expect.toSatisfy((error) => isArgumentError(error)));
      expect(argument).toBeTruthy();
    }
    expect(server.requests).toHaveLength(0);
  });

  it("works against the emulator, and leaving the store doesn't cancel the run", async () => {
    const clock = new ManualClock();
    const emulator = new CursorEmulator({ clock });
    emulator.script(
      () => true,
      (run) => run.thinking("hm").text("Hel").tool("read", {}, "x").hold("more").text("lo").finish(),
    );
    const cursor = new Cursor({ apiKey: "key_TEST", fetch: emulator.fetch, clock });
    const { run } = await clock.run(cursor.agents.create({ prompt: "Hi" }));
    const store = createRunStore(runSource(cursor, run), { clock });
    const leave = store.subscribe(() => {});
    await clock.advance(2_000);
    expect(store.getSnapshot()).toMatchObject({ text: "Hel", status: "streaming" });
    leave();
    await clock.advance(1_000);
    emulator.release("more");
    store.subscribe(() => {});
    await clock.advance(5_000);
    expect(store.getSnapshot()).toMatchObject({ text: "Hello", status: "ready", runStatus: "FINISHED" });
    expect(store.getSnapshot().parts.map(({ type }) => type)).toEqual(["reasoning", "text", "tool", "text"]);
    expect(emulator.requests.some(({ path }) => path.endsWith("/cancel"))).toBe(false);
  });
});
