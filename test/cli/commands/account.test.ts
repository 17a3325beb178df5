import { ManualClock } from "cursor-cloud-agents/emulator";
import { describe, expect, it } from "vitest";
import { checkedEmulator } from "../../support/checked-emulator.ts";
import { cli, turns } from "../helpers.ts";

/** An agent whose run has ended. */
async function stage() {
  const clock = new ManualClock();
  const emulator = checkedEmulator({ clock });
  emulator.script("first", (run) =>
    run
      .text("All done.")
      .artifact("artifacts/notes/a.md", "# A")
      .finish({ branch: "cursor/x", durationMs: 83_000 }),
  );
  emulator.script("fail", (run) => run.fail());
  const { agent } = emulator.addAgent({
    prompt: { text: "first" },
    repos: [{ url: "https://github.com/a/b" }],
  });
  await turns();
  return { clock, emulator, id: agent.id, runId: agent.latestRunId as string };
}

describe("lookups", () => {
  it("usage shows each run and the sum", async () => {
    const world = await stage();
    await world.clock.advance(10_000);
    await cli(["send", world.id, "fail"], world);
    const { code, stdout } = await cli(["usage", world.id], world);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^run +input +output +cache write +cache read +total\n/);
    expect(stdout).toMatch(/\nall +[\d,]+ +[\d,]+ +[\d,]+ +[\d,]+ +[\d,]+\n$/);
    expect((await cli(["usage", world.id, world.runId], world)).stdout).not.toMatch(/\nall/);
  });

  it("models, repos and me show what there is", async () => {
    const world = await stage();
    expect((await cli(["models"], world)).stdout).toMatch(/composer-2 +Composer 2 +fast=false\|true\n/);
    const repositories = await cli(["repos"], world);
    expect(repositories.stdout).toBe(
      "https://github.com/your-org/your-repo\nhttps://github.com/your-org/your-other-repo\n",
    );
    // The note says that a silence of a minute is normal.
    expect(repositories.stderr).toContain("that may take a minute");
    expect((await cli(["me"], world)).stdout).toBe(
      "Production API Key  Alex Rivera <developer@example.com>, since 2026-04-13\n",
    );
    const env = { CURSOR_API_KEY: "sa_service-account" };
    expect((await cli(["me"], { ...world, env })).stdout).toContain("a service account");
  });
});
