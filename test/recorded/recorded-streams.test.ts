import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Cursor, type RunEvent, type RunStreamInclude } from "cursor-cloud-agents";
import { CursorEmulator } from "cursor-cloud-agents/emulator";
import { describe, expect, it } from "vitest";
import { parseFrames } from "../support/contract.ts";

/**
 * Streams as they were recorded, ours and, with CURSOR_RECORDED_STREAMS, those of a folder of your own:
 * each is played by the emulator over HTTP and must arrive whole, in every mode, with the outcome it tells.
 */
const folders = [
  fileURLToPath(new URL("../../fixtures", import.meta.url)),
  process.env["CURSOR_RECORDED_STREAMS"],
];
const files = folders.flatMap((folder) =>
  folder === undefined
    ? []
    : readdirSync(folder)
        .filter((name) => name.endsWith(".sse"))
        .map((name) => join(folder, name)),
);

const left: Record<RunStreamInclude, (name: string) => boolean> = {
  simplified: (name) => name === "interaction_update",
  interaction: (name) => ["assistant", "thinking", "tool_call"].includes(name),
  all: () => false,
};

const known = [
  "status",
  "assistant",
  "thinking",
  "tool_call",
  "interaction_update",
  "heartbeat",
  "result",
  "error",
  "done",
];

/** What a recording says, read without the client: every frame of the mode, each status once, the odd ones as what they are. */
function told(text: string, include: RunStreamInclude): unknown[] {
  let status: unknown;
  return parseFrames(text).flatMap<unknown>(({ id, event = "message", data: raw }) => {
    if (left[include](event)) return [];
    const around = id === undefined ? {} : { id };
    const payload = parse(raw);
    if (payload === undefined) return [{ type: "invalid", name: event, ...around, raw }];
    if (!known.includes(event)) return [{ type: "unknown", name: event, ...around, data: payload }];
    if (event === "status") {
      const { status: next } = payload as { status: unknown };
      if (next === status) return [];
      status = next;
    }
    return [{ type: event, ...around, data: payload }];
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function play(recording: string, include: RunStreamInclude, ending?: string) {
  const emulator = new CursorEmulator();
  emulator.script("play", (run) => {
    run.replay(recording);
    if (ending !== undefined) run.text(ending).finish();
  });
  await using server = await emulator.listen();
  const cursor = new Cursor({ apiKey: "key_TEST", baseUrl: server.url, random: () => 0 });
  const { run } = await cursor.agents.create({ prompt: "play" });
  const stream = cursor.runs.stream(run, { include });
  const events: RunEvent[] = [];
  for await (const event of stream) events.push(event);
  return { events, result: await stream.result(), run: await cursor.runs.get(run), emulator };
}

describe.each(files)("%s", (file) => {
  const recording = readFileSync(file, "utf8");
  const outcome = parseFrames(recording).find(({ event }) => event === "result");

  it.each(["simplified", "interaction", "all"] as const)(
    "arrives whole over HTTP, read as %s",
    async (include) => {
      if (outcome) {
        const { events, result, run } = await play(recording, include);
        expect(events).toEqual(told(recording, include));
        const { status } = JSON.parse(outcome.data) as { status: string };
        expect(result).toMatchObject({ status, source: "stream" });
        expect(run.status).toBe(status);
      } else {
        // Opened too early: the refusal is no end; the run's own end follows.
        const { events, result, emulator } = await play(recording, include, "Here after all.");
        expect(result).toMatchObject({ status: "FINISHED", text: "Here after all.", source: "stream" });
        expect(events.filter(({ type }) => type === "error")).toEqual([]);
        expect(events.slice(-2).map(({ type }) => type)).toEqual(["result", "done"]);
        expect(emulator.requests.filter(({ operationId }) => operationId === "streamRun")).toHaveLength(2);
      }
    },
  );
});

it("there are recordings to play", () => {
  expect(files.length).toBeGreaterThanOrEqual(3);
});
