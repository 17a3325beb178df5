import { Cursor } from "cursor-cloud-agents";
import { CursorEmulator, type ExchangeRecord } from "cursor-cloud-agents/emulator";
import { describe, expect, it } from "vitest";
import { emulate, key } from "./helpers.ts";

const bug = () => {
  throw new Error("my bug");
};

describe("a callback that throws", () => {
  it.each<[string, (emulator: CursorEmulator) => unknown, string]>([
    ["a script", (emulator) => emulator.script("readme", bug), 'the script for "readme" threw: my bug'],
    [
      "a script for a pattern",
      (emulator) => emulator.script(/read/i, bug),
      'the script for "/read/i" threw: my bug',
    ],
    [
      "a script for a predicate",
      (emulator) => emulator.script(() => true, bug),
      'the script for "readme please" threw: my bug',
    ],
    [
      "a predicate of a script",
      (emulator) => emulator.script(bug, () => {}),
      "the match function of a script threw: my bug",
    ],
    [
      "a mistake in a script",
      (emulator) => emulator.script("readme", (run) => run.finish().text("x")),
      'the script for "readme" threw: RunScript: a "text" step after the run has ended',
    ],
    [
      "a script that is written later",
      (emulator) =>
        emulator.script("readme", async (run) => {
          await null;
          run.text("too late");
        }),
      'the script for "readme" returned a promise',
    ],
    [
      "a script that rejects",
      (emulator) => emulator.script("readme", () => Promise.reject(new Error("my bug"))),
      'the script for "readme" returned a promise',
    ],
    [
      "a predicate of a fault",
      (emulator) => emulator.faults.status(bug, 500),
      "the predicate of a fault threw: my bug",
    ],
  ])("is named as the reason, once: %s", async (_, plan, message) => {
    const emulator = new CursorEmulator();
    plan(emulator);
    const cursor = new Cursor({ apiKey: key, fetch: emulator.fetch });
    const error: Error = await cursor.agents.create({ prompt: "readme please" }).then(
      () => expect.unreachable(),
      (reason: unknown) => reason as Error,
    );
    expect(error.message).toContain(message);
    expect(error.message).not.toContain("connection failed");
    expect(emulator.requests).toHaveLength(1);
    expect(emulator.agents).toHaveLength(0);
  });

  it("is named over HTTP, too", async () => {
    const emulator = new CursorEmulator();
    emulator.script("readme", bug);
    await using server = await emulator.listen();
    const cursor = new Cursor({ apiKey: key, baseUrl: server.url });
    await expect(cursor.agents.create({ prompt: "readme" })).rejects.toThrow(
      'the script for "readme" threw: my bug',
    );
    expect(emulator.requests).toHaveLength(1);
  });

  it("does not let a follow-up begin", async () => {
    const { emulator, create, call } = emulate();
    const { path } = await create("x");
    emulator.script("again", bug);
    const reply = await call("POST", `${path}/runs`, { prompt: { text: "again" } });
    expect([reply.status, reply.json.error.message]).toEqual([
      501,
      'CursorEmulator: the script for "again" threw: my bug',
    ]);
    expect(emulator.runs(path.split("/").at(-1) as string)).toHaveLength(1);
  });

  it("throws from addAgent itself", () => {
    const { emulator } = emulate();
    emulator.script("readme", bug);
    expect(() => emulator.addAgent({ prompt: { text: "readme" } })).toThrow(
      'the script for "readme" threw: my bug',
    );
  });

  it("is named if it is onExchange", async () => {
    const emulator = new CursorEmulator({ onExchange: bug as (exchange: ExchangeRecord) => void });
    const cursor = new Cursor({ apiKey: key, fetch: emulator.fetch });
    await expect(cursor.me()).rejects.toThrow("onExchange threw: my bug");
    expect(emulator.requests).toHaveLength(1);
  });
});

describe("a failure of the emulator itself", () => {
  it("is an answer of its own, never a conflict of a repeated request", async () => {
    const emulator = new CursorEmulator({ models: [{ id: "a", displayName: "A", aliases: {} as never }] });
    const cursor = new Cursor({ apiKey: key, fetch: emulator.fetch });
    await expect(cursor.agents.create({ prompt: "x", model: { id: "m" } })).rejects.toThrow(
      "CursorEmulator: ",
    );
    expect(emulator.requests).toHaveLength(1);
  });
});
