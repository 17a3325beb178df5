import { CursorEmulator, type EmulatorServer } from "cursor-cloud-agents/emulator";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Child, MiB, program, sized, start, until } from "./support.ts";

const atOnce = sized(100, 500);
const inARow = sized(500, 10_000);

let emulator: CursorEmulator;
let server: EmulatorServer;
let child: Child;
let readersLeft: number;
beforeAll(async () => {
  const file = await program(new URL("children/many-streams.ts", import.meta.url));
  emulator = new CursorEmulator();
  emulator.script("over", (run) =>
    run.thinking("Hm.").text("One. ").tool("shell", {}, "ok").text("Two.").finish(),
  );
  emulator.script("going", (run) => run.text("One.").hold("never"));
  server = await emulator.listen();
  const begin = (text: string) => emulator.addAgent({ prompt: { text } }).run;
  // A run is asked about twelve times a minute at most: enough of them for all waits, one in twelve readings.
  const over = Array.from({ length: (2 * atOnce + inARow) / 12 / 6 + 10 }, () => begin("over"));
  const [going, expired] = [begin("going"), begin("going")];
  await until(
    () => over.every(({ agentId }) => emulator.runs(agentId)[0]?.status === "FINISHED"),
    "runs end",
  );
  emulator.expireStream(expired.id);
  const refs = { over, going, expired };
  child = start(file, [server.url, refs, atOnce, inARow], {
    flags: ["--expose-gc"],
    patience: sized(60_000, 300_000),
  });
  await Promise.race([child.ended, until(() => child.lines.length === 1, "the readings end", 280_000)]);
  readersLeft = emulator.connections;
  child.process.stdin?.write("close\n");
  await child.ended;
}, 300_000);
afterAll(() => server.close());

describe("very many streams on one client", () => {
  it("end as they should, and the process says nothing of listeners or rejections", async () => {
    expect(child.stderr()).toBe("");
    expect(await child.ended).toEqual({ code: 0, signal: null });
    expect(Object.keys(child.lines[0].words)).toEqual(["fine"]);
  });

  it.each(["afterBatch", "afterRow"])("leave no timer, socket or listener behind: %s", (moment) => {
    expect(child.lines[0][moment]).toEqual({ resources: [], listeners: 0, timers: 0 });
  });

  it("leave no memory behind", () => {
    expect(child.lines[0].grown).toBeLessThan(1.5 * MiB);
  });

  it("are forgotten by the poller", () => {
    expect(child.lines[0].sizes).toEqual({
      "#asks.#works": "Map(0)",
      "#loops.#works": "Map(0)",
      "#watchers": "Map(0)",
      "#askedAt": "Map(1)",
    });
  });

  it("are gone at the server, which no connection holds", () => {
    expect(readersLeft).toBe(0);
    expect(emulator.requests.length).toBeGreaterThan(atOnce + inARow);
    expect(child.lines[1]).toEqual({ resources: [] });
  });
});
