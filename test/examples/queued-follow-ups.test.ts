import { Cursor, isApiError, isCursorError } from "cursor-cloud-agents";
import { ManualClock } from "cursor-cloud-agents/emulator";
import { expect, it } from "vitest";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { PromptQueue } from "./queued-follow-ups/prompt-queue.ts";

function stage() {
  const clock = new ManualClock();
  const emulator = checkedEmulator({ clock });
  const prompts: string[] = [];
  emulator.script(/./, (run) => {
    prompts.push(run.prompt);
    run.wait(30_000);
    return run.prompt.includes("impossible") ? run.fail() : run.text(`did: ${run.prompt}`).finish();
  });
  const cursor = new Cursor({ apiKey: "test", fetch: emulator.fetch, clock });
  const create = async (prompt: string) => (await clock.run(cursor.agents.create({ prompt }))).agent.id;
  return { clock, emulator, cursor, prompts, create, queue: new PromptQueue(cursor) };
}

const settled = (promises: Promise<unknown>[]) =>
  Promise.allSettled(promises).then((results) =>
    results.map((result) =>
      result.status === "fulfilled" ? (result.value as { status: string }).status : "rejected",
    ),
  );

it("prompts of one agent run one after another and in order, behind a run that is under way, whatever becomes of them", async () => {
  const { clock, prompts, create, queue, emulator } = stage();
  const agentId = await create("begin"); // still at work for half a minute
  // The first one isn't accepted at once: those behind it must not overtake it.
  emulator.faults.status(({ bodyText }) => bodyText.includes('"one"'), 429, {
    headers: { "retry-after": "50" },
  });
  const turns = ["one", "the impossible", "two", "three"].map((prompt) => queue.add(agentId, prompt));
  expect(queue.agents).toEqual([agentId]);
  expect(await clock.run(settled(turns))).toEqual(["FINISHED", "ERROR", "FINISHED", "FINISHED"]);
  expect(prompts).toEqual(["begin", "one", "the impossible", "two", "three"]);
  expect(await clock.run(turns[2] as Promise<unknown>)).toMatchObject({ result: "did: two" });
  expect(emulator.runs(agentId)).toHaveLength(5);
  expect(queue.agents).toEqual([]);
});

it("agents don't wait for each other", async () => {
  const { clock, emulator, create, queue } = stage();
  const [slow, fast] = [await create("a"), await create("b")];
  await clock.advance(60_000);
  emulator.script("slow", (run) => run.hold("slow"));
  const first = queue.add(slow, "slow");
  const second = queue.add(fast, "quick");
  expect((await clock.run(second)).status).toBe("FINISHED");
  expect(queue.agents).toEqual([slow]);
  emulator.release("slow");
  expect((await clock.run(first)).status).toBe("FINISHED");
});

it("a prompt that can't be sent is its caller's trouble alone, and none is sent twice", async () => {
  const { clock, emulator, prompts, create, queue } = stage();
  const agentId = await create("begin");
  await clock.advance(60_000);
  emulator.faults.status(({ bodyText }) => bodyText.includes("refused"), 400);
  emulator.faults.dropAnswer(({ bodyText }) => bodyText.includes("lost"), { times: 9 });
  const leaving = new AbortController();
  const turns = [
    queue.add(agentId, "refused"),
    queue.add(agentId, "lost"),
    queue.add(agentId, "withdrawn", leaving.signal),
    queue.add(agentId, "last"),
  ] as const;
  leaving.abort(new Error("never mind"));
  expect(await clock.run(settled([...turns]))).toEqual(["rejected", "rejected", "rejected", "FINISHED"]);
  expect(await turns[0].catch((error: unknown) => isApiError(error, "validation_error"))).toBe(true);
  expect(await turns[1].catch((error: unknown) => isCursorError(error) && error.outcome)).toBe("unknown");
  expect(await turns[2].catch((error: Error) => error.message)).toBe("never mind");
  // The lost one was taken, and the last one waited for its run.
  expect(prompts).toEqual(["begin", "lost", "last"]);
});
