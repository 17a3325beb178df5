import { ManualClock, type ScriptBuilder } from "cursor-cloud-agents/emulator";
import { describe, expect, it } from "vitest";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { cli } from "./helpers.ts";

function stage(script?: ScriptBuilder) {
  const clock = new ManualClock();
  const emulator = checkedEmulator({ clock });
  if (script) emulator.script(() => true, script);
  return { clock, emulator };
}

describe("send", () => {
  const agentId = "bc-00000000-0000-4000-8000-00000000000a";

  it("sends a follow-up and follows it", async () => {
    const world = stage((run) => run.text(`Did: ${run.prompt}`).finish());
    world.emulator.addAgent({ prompt: { text: "first" }, agentId });
    await world.clock.advance(10_000);
    const { code, stdout } = await cli(["send", `https://cursor.com/agents/${agentId}`, "second"], world);
    expect([code, stdout]).toEqual([0, "Did: second\n"]);
  });

  it.each([
    ["waits for the active run", "--wait-if-busy", "FINISHED"],
    ["cancels the active run", "--cancel-if-busy", "CANCELLED"],
  ])("%s with %s", async (_, flag, first) => {
    const world = stage();
    world.emulator.script("first", (run) => run.wait(60_000).text("one").finish());
    world.emulator.script("second", (run) => run.text("two").finish());
    world.emulator.addAgent({ prompt: { text: "first" }, agentId });
    const { code, stdout } = await cli(["send", agentId, "second", flag], world);
    expect([code, stdout]).toEqual([0, "two\n"]);
    expect(world.emulator.runs(agentId).map(({ status }) => status)).toEqual([first, "FINISHED"]);
  });

  it("rejects both flags at once", async () => {
    const { code } = await cli(["send", agentId, "x", "--wait-if-busy", "--cancel-if-busy"], stage());
    expect(code).toBe(64);
  });
});
