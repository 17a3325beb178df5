import { readFileSync } from "node:fs";
import type { RunCheckpoint, RunEvent, RunRef, RunStreamInclude } from "cursor-cloud-agents";
import { CursorEmulator, type EmulatorServer } from "cursor-cloud-agents/emulator";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Child, isFull, program, run, start, until } from "./support.ts";

// A run that is read by one process after the other: the position travels as JSON, over a pipe.

interface Line {
  event: RunEvent;
  checkpoint: RunCheckpoint;
}

const recording = readFileSync(new URL("../../fixtures/finished-with-edits.sse", import.meta.url), "utf8");
const modes = ["simplified", "interaction", "all"] as const;

let file: string;
let emulator: CursorEmulator;
let server: EmulatorServer;
let ref: RunRef;
const wholes = new Map<RunStreamInclude, Line[]>();

const read = (from: RunCheckpoint | null, include: RunStreamInclude, of = ref): Promise<Line[]> =>
  run(file, [server.url, of, include, from]);

beforeAll(async () => {
  file = await program(new URL("children/checkpoint.ts", import.meta.url));
  emulator = new CursorEmulator();
  emulator.script("recorded", (script) => script.replay(recording));
  server = await emulator.listen();
  const { agentId, id } = emulator.addAgent({ prompt: { text: "recorded" } }).run;
  ref = { agentId, id };
  await until(() => emulator.runs(ref.agentId)[0]?.status === "FINISHED", "the run is over");
  await Promise.all(modes.map(async (include) => wholes.set(include, await read(null, include))));
});
afterAll(() => server.close());

/** What has a place in the run: a connection opens with the status of now, and heartbeats are its own. */
const told = (events: RunEvent[]) => ({
  events: events.flatMap(({ synthesized, ...event }: RunEvent & { synthesized?: true }) =>
    event.type === "heartbeat" || event.type === "status" ? [] : [event],
  ),
  statuses: [...new Set(events.flatMap((event) => (event.type === "status" ? [event.data.status] : [])))],
});
const eventsOf = (lines: Line[]) => lines.map(({ event }) => event);

/** The boundaries of a mode: all of them, or some of each kind. */
function boundaries(include: RunStreamInclude): number[] {
  const lines = wholes.get(include)!;
  const all = lines.map((_, at) => at + 1);
  if (isFull) return [0, ...all];
  const betweenTwins = all.filter((at) => {
    const [id, next] = [lines[at - 1]!.event.id, lines[at]?.event.id];
    return id !== undefined && id === next && lines[at]!.event.type !== "done";
  });
  const afterResult = all.filter((at) => lines[at - 1]!.event.type === "result");
  const middle = Math.floor(all.length / 2);
  return [...betweenTwins.slice(0, 1), ...betweenTwins.slice(-1), middle, ...afterResult];
}

describe("a stream that goes on in another process", () => {
  it("is rich in what it is tested for", () => {
    const events = eventsOf(wholes.get("all")!);
    expect(events.length).toBeGreaterThan(40);
    expect(
      events.filter(({ id }, at) => id !== undefined && id === events[at - 1]?.id).length,
    ).toBeGreaterThan(8);
    expect(events.at(-1)?.type).toBe("done");
  });

  it.each(modes)("is whole, once, wherever it was left (%s)", { timeout: 120_000 }, async (include) => {
    const whole = wholes.get(include)!;
    const rest = boundaries(include);
    const check = async (): Promise<void> => {
      for (let at = rest.shift(); at !== undefined; at = rest.shift()) {
        const first = whole.slice(0, at);
        const second = await read(first.at(-1)?.checkpoint ?? null, include);
        const both = [...eventsOf(first), ...eventsOf(second)];
        expect(told(both), `left after ${at} events`).toEqual(told(eventsOf(whole)));
      }
    };
    await Promise.all([check(), check()]);
  });

  it("is whole after a process that was killed between two twins", async () => {
    const whole = wholes.get("all")!;
    const path = `/v1/agents/${ref.agentId}/runs/${ref.id}/stream`;
    const raw = await fetch(server.url + path, { headers: { authorization: "Bearer key_TEST" } });
    const frames = (await raw.text()).split("\n\n");
    const afterEvents = frames.findIndex((frame) => frame.includes("event: assistant")) + 1;
    expect(frames[afterEvents]).toContain("event: interaction_update");
    emulator.faults.stall("streamRun", { afterEvents });
    const child = start(file, [server.url, ref, "all", null]);
    await until(() => child.lines.at(-1)?.event.type === "assistant", "it reads as far as there is");
    await kill(child);
    const first = child.lines as Line[];
    const second = await read(first.at(-1)!.checkpoint, "all");
    expect(second.length).toBeLessThan(whole.length);
    expect(told([...eventsOf(first), ...eventsOf(second)])).toEqual(told(eventsOf(whole)));
  });

  it.each(isFull ? modes : (["all"] as const))(
    "is not asked for again once it is gone (%s)",
    async (include) => {
      emulator.script(`gone ${include}`, (script) =>
        script.text("One. ").text("Two. ").hold(include).text("Three.").finish(),
      );
      const { run: other } = emulator.addAgent({ prompt: { text: `gone ${include}` } });
      const asked = (operation: string) =>
        emulator.requests.filter(
          ({ operationId, url }) => operationId === operation && url.includes(other.id),
        ).length;
      emulator.faults.cut(({ url }) => url.includes(`${other.id}/stream`), { afterEvents: 6 });
      emulator.faults.status(({ url }) => url.includes(`${other.id}/stream`) && asked("streamRun") > 1, 410);
      const child = start(file, [server.url, other, include, null]);
      await until(() => asked("getRun") > 0, "it is told, and asks for the run");
      const before = child.lines.length;
      child.process.stdin?.write("where?\n");
      await until(() => child.lines.length > before, "it says where it stands");
      const { checkpoint } = child.lines.at(-1);
      await kill(child);
      const first = (child.lines as Line[]).filter(({ event }) => event !== undefined);
      expect(checkpoint).toMatchObject({ expired: true });
      const streams = asked("streamRun");
      emulator.release(include);
      await until(() => emulator.runs(other.agentId)[0]?.status === "FINISHED", "the run ends");
      const second = eventsOf(await read(checkpoint, include, other));
      expect(second.map(({ type }) => type)).toEqual(["result", "done"]);
      expect(second[0]).toMatchObject({ data: { status: "FINISHED", text: "One. Two. Three." } });
      expect(asked("streamRun")).toBe(streams);
      expect(first.length).toBeGreaterThan(1);
    },
  );
});

async function kill(child: Child): Promise<void> {
  child.process.kill("SIGKILL");
  expect(await child.ended).toEqual({ code: null, signal: "SIGKILL" });
}
