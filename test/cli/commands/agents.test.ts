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

const timesOf = ({ emulator }: Awaited<ReturnType<typeof stage>>, operation: string) =>
  emulator.requests.filter(({ operationId }) => operationId === operation).length;

describe("ls", () => {
  it("shows each agent with the status of its latest run, which its own status is not", async () => {
    const world = await stage();
    world.emulator.addAgent({ prompt: { text: "fail" } });
    const none = world.emulator.addAgent({ prompt: { text: "first" }, name: "Young" }).agent;
    world.emulator.setAgent(none.id, { latestRunId: undefined });
    await turns();
    await world.clock.advance(3 * 3_600_000);
    const { code, stdout, stderr } = await cli(["ls"], world);
    expect([code, stderr]).toEqual([0, ""]);
    const rows = stdout.split("\n").map((line) => line.split(/ {2,}/));
    expect(rows[0]).toEqual(["agent", "run", "updated", "name"]);
    expect(rows).toContainEqual([world.id, "FINISHED", "3 h ago", "first"]);
    expect(stdout).toMatch(/ERROR {5}3 h ago {2}fail/);
    expect(rows).toContainEqual([none.id, "-", "3 h ago", "Young"]);
    expect(world.emulator.requests.some(({ path }) => path.includes("undefined"))).toBe(false);
  });

  it("leaves archived agents out unless they are wanted, and stops at its limit", async () => {
    const world = await stage();
    for (let count = 0; count < 25; count++) world.emulator.addAgent({ prompt: { text: "first" } });
    await cli(["archive", world.id], world);
    expect((await cli(["ls", "--limit", "100"], world)).stdout).not.toContain(world.id);
    expect((await cli(["ls", "-a", "--limit", "100"], world)).stdout).toMatch(
      new RegExp(`${world.id}.*first \\(archived\\)`),
    );
    expect((await cli(["ls"], world)).stdout.trim().split("\n")).toHaveLength(11);
  });

  it("fetches at most four runs at once, and none after a 429", async () => {
    const world = await stage();
    for (let count = 0; count < 15; count++) world.emulator.addAgent({ prompt: { text: "first" } });
    let open = 0;
    let most = 0;
    const fetch: typeof globalThis.fetch = async (...args) => {
      most = Math.max(most, ++open);
      await turns(2);
      return world.emulator.fetch(...args).finally(() => open--);
    };
    await cli(["ls", "--limit", "16"], { ...world, fetch });
    expect(most).toBe(4);
    expect(timesOf(world, "getRun")).toBe(16);

    world.emulator.faults.status("getRun", 429, { times: 100 });
    const { code, stdout, stderr } = await cli(["ls", "--limit", "16"], world);
    expect(timesOf(world, "getRun")).toBeLessThanOrEqual(16 + 4);
    expect([code, stdout.match(/ {2}\? /g)?.length]).toEqual([0, 16]);
    expect(stderr).toContain("the status of 16 is not known (too many requests");
  });

  it("sends one request with --no-status, and says when there are no agents", async () => {
    const world = await stage();
    await cli(["ls", "--no-status"], world);
    expect(world.emulator.requests).toHaveLength(1);
    world.emulator.reset();
    expect(await cli(["ls"], world)).toMatchObject({ code: 0, stdout: "", stderr: "no agents\n" });
  });
});

describe("one agent", () => {
  it("is shown with its latest run, branches and reply", async () => {
    const world = await stage();
    const { code, stdout } = await cli(["get", world.id], world);
    expect(code).toBe(0);
    for (const line of [
      `id       ${world.id}`,
      `page     https://cursor.com/agents/${world.id}`,
      "agent    IDLE",
      "repo     https://github.com/a/b",
      `run      ${world.runId}`,
      "status   FINISHED in 1 min 23 s",
      "branch   cursor/x  github.com/a/b",
    ]) {
      expect(stdout).toContain(`${line}\n`);
    }
    expect(stdout).toMatch(/\n\nAll done\.\n$/);
  });

  it("is archived, unarchived and deleted", async () => {
    const world = await stage();
    const status = () => world.emulator.agents[0]?.status;
    expect(await cli(["archive", world.id], world)).toMatchObject({
      code: 0,
      stdout: `archived ${world.id}\n`,
    });
    expect(status()).toBe("ARCHIVED");
    expect((await cli(["unarchive", world.id], world)).code).toBe(0);
    expect(status()).not.toBe("ARCHIVED");
    expect(await cli(["delete", world.id, "--yes"], world)).toMatchObject({
      stdout: `deleted ${world.id}\n`,
    });
    expect(status()).toBeUndefined();
  });

  it("is deleted only after a yes on a terminal, and only with --yes elsewhere", async () => {
    const world = await stage();
    const elsewhere = await cli(["delete", world.id], { ...world, stdin: "y\n" });
    expect(elsewhere).toMatchObject({ code: 64, stderr: expect.stringContaining("--yes") });
    for (const stdin of ["n\n", "\n", "", "yesterday\n"]) {
      const asked = await cli(["delete", world.id], { ...world, stdin, isTerminal: true });
      expect(asked).toMatchObject({ code: 1, stderr: expect.stringContaining("nothing was deleted") });
    }
    expect(world.emulator.requests).toEqual([]);
    const yes = await cli(["delete", world.id], { ...world, stdin: "y\n", isTerminal: true });
    expect(yes.stderr).toContain(`Delete ${world.id} for good? [y/N] `);
    expect([yes.code, world.emulator.agents.length]).toEqual([0, 0]);
  });
});
