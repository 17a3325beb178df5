import { Cursor } from "cursor-cloud-agents";
import { ManualClock } from "cursor-cloud-agents/emulator";
import { expect, it } from "vitest";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { type BotState, begin, invoke } from "./short-functions/bot.ts";

const words = Array.from({ length: 120 }, (_, index) => `word-${index} `);

/** A run of forty minutes, through cuts and a stall. */
function stage() {
  const clock = new ManualClock();
  const emulator = checkedEmulator({ clock });
  emulator.script("story", (run) => {
    words.forEach((word, index) => {
      run.wait(20_000).text(word);
      if (index % 25 === 3) run.cut({ afterEvents: 1 });
      if (index === 60) run.stall();
    });
    return run.tool("read_file", { path: "a" }, { content: "b" }).finish();
  });
  // Each invocation is a process of its own: all it knows is the state's JSON.
  const invocation = (stored: string) =>
    clock.run(
      invoke(JSON.parse(stored) as BotState, {
        cursor: new Cursor({ apiKey: "test", fetch: emulator.fetch, clock }),
        budget: 50_000,
        clock,
      }),
    );
  const start = async () =>
    JSON.stringify(await begin(new Cursor({ apiKey: "test", fetch: emulator.fetch, clock }), "A story"));
  return { clock, emulator, invocation, start };
}

it("the bot loses nothing and doubles nothing over many short invocations, some of which die", async () => {
  const { clock, emulator, invocation, start } = stage();
  let stored = await start();
  let invocations = 0;
  const shown: string[] = [];
  while ((JSON.parse(stored) as BotState).status === undefined) {
    const began = clock.now();
    const next = await invocation(stored);
    expect(clock.now() - began).toBeLessThanOrEqual(51_000);
    // Each seventh dies after its work, before its state is stored.
    if (++invocations % 7 !== 0) stored = JSON.stringify(next);
    shown.push(next.transcript.text);
    expect(invocations).toBeLessThan(200);
  }
  const { status, transcript, checkpoint } = JSON.parse(stored) as BotState;
  expect(invocations).toBeGreaterThan(40);
  expect([status, transcript.text]).toEqual(["FINISHED", words.join("")]);
  expect(transcript.tools).toMatchObject([{ name: "read_file", status: "completed" }]);
  for (const text of shown) expect(words.join("").startsWith(text)).toBe(true);
  // A position, not a history: it fits wherever a state is kept.
  expect(JSON.stringify(checkpoint).length).toBeLessThan(1_000);
  expect(emulator.connections).toBe(0);
  // Over is over.
  const before = emulator.requests.length;
  expect(JSON.stringify(await invocation(stored))).toBe(stored);
  expect(emulator.requests).toHaveLength(before);
});

it("the bot ends well when the stream is gone: its outcome comes all the same", async () => {
  const { clock, emulator, invocation, start } = stage();
  const stored = JSON.stringify(await invocation(await start()));
  await clock.advance(25 * 60 * 60_000);
  emulator.expireStream((JSON.parse(stored) as BotState).run.id);
  const { status } = await invocation(stored);
  expect(status).toBe("FINISHED");
});
