import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type EmulatorOptions, ManualClock } from "cursor-cloud-agents/emulator";
import { describe, expect, it } from "vitest";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { cli, turns } from "./helpers.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** An agent whose run has ended. */
async function stage(options: EmulatorOptions = {}) {
  const clock = new ManualClock();
  const emulator = checkedEmulator({ clock, ...options });
  emulator.script("first", (run) =>
    run
      .text("All done.")
      .artifact("artifacts/notes/a.md", "# A")
      .finish({ branch: "cursor/x", durationMs: 83_000 }),
  );
  emulator.script("fail", (run) => run.fail());
  emulator.script("active", (run) => run.hold("never"));
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

describe("cancel", () => {
  it("cancels the latest run, or the one that is named", async () => {
    const world = await stage();
    const { agent } = world.emulator.addAgent({ prompt: { text: "active" } });
    await turns();
    const { code, stdout } = await cli(["cancel", agent.id], world);
    expect([code, stdout]).toEqual([0, `cancelled ${agent.latestRunId}\n`]);
    expect(world.emulator.runs(agent.id)[0]?.status).toBe("CANCELLED");
  });

  it("succeeds for a run that is already over", async () => {
    const world = await stage();
    const { code, stdout } = await cli(["cancel", world.id, world.runId], world);
    expect([code, stdout]).toEqual([0, `${world.runId} is already over: FINISHED\n`]);
  });

  it("reports that an agent has no run yet", async () => {
    const world = await stage();
    world.emulator.setAgent(world.id, { latestRunId: undefined });
    const { code, stderr } = await cli(["cancel", world.id], world);
    expect([code, stderr]).toEqual([1, `error: agent ${world.id} has no run yet\n`]);
  });
});

describe("artifacts", () => {
  it("are listed", async () => {
    const world = await stage();
    const { stdout } = await cli(["artifacts", "ls", world.id], world);
    expect(stdout).toBe("size  updated   path\n 3 B  just now  artifacts/notes/a.md\n");
    const other = world.emulator.addAgent({ prompt: { text: "fail" } }).agent;
    expect((await cli(["artifacts", "ls", other.id], world)).stderr).toContain("no artifacts");
  });

  it("are saved with a line for each file; unsafe names are rejected, with exit code 1", async () => {
    const world = await stage();
    const folder = join(await temporaryFolder(), "out");
    const first = await cli(["artifacts", "pull", world.id, folder], world);
    expect(first).toMatchObject({ code: 0, stdout: `1 file saved in ${folder}\n` });
    expect(first.stderr).toBe("saved     notes/a.md  3 B\n");
    expect(await readFile(join(folder, "notes/a.md"), "utf8")).toBe("# A");

    world.emulator.addArtifact(world.id, "artifacts/../../evil", "x");
    const second = await cli(["artifacts", "pull", world.id, folder], world);
    expect(second).toMatchObject({
      code: 1,
      stdout: `0 files saved in ${folder}, 1 unchanged, 1 rejected\n`,
    });
    expect(second.stderr).toContain("rejected artifacts/../../evil: ");
    const json = await cli(["artifacts", "pull", world.id, folder, "--json"], world);
    expect(json.lines()).toEqual([
      expect.objectContaining({ type: "file", state: "skipped", path: "artifacts/notes/a.md", sizeBytes: 3 }),
      expect.objectContaining({ type: "file", state: "refused", reason: "dot-segment" }),
      { type: "files", saved: 0, skipped: 1, refused: 1, failed: 0, folder },
    ]);
  });

  it("show a progress bar only on a terminal that can redraw a line", async () => {
    const world = await stage();
    const folder = await temporaryFolder();
    world.emulator.addArtifact(world.id, "artifacts/big.bin", new Uint8Array(300_000));
    const argv = ["artifacts", "pull", world.id, folder];
    const live = await cli(argv, { ...world, isTerminal: true, columns: 60 });
    expect(live.stderr).toMatch(/\r\u001b\[K█+░* {2}big\.bin {2}.* of 293\.0 KiB {2}\(\d\/2\)/);
    const bars = live.stderr.split(/\r\u001b\[K|\n/).filter((text) => text.includes("█"));
    expect(bars.every((text) => text.length < 60)).toBe(true);
    for (const [env, flags] of [
      [{ TERM: "dumb" }, []],
      [{ NO_COLOR: "1" }, ["--quiet"]],
    ] as const) {
      const elsewhere = [...argv.slice(0, 3), await temporaryFolder(), ...flags];
      const plain = await cli(elsewhere, { ...world, isTerminal: true, env });
      expect(plain.stdout).toContain("2 files saved");
      expect(plain.stderr + plain.stdout).not.toMatch(/[\r\u001b█]/);
    }
  });

  it("are reported when they fail", async () => {
    const world = await stage();
    world.emulator.faults.status("downloadArtifact", 404, { code: "artifact_not_found" });
    const { code, stderr, stdout } = await cli(
      ["artifacts", "pull", world.id, await temporaryFolder()],
      world,
    );
    expect(code).toBe(1);
    expect(stderr).toContain("failed artifacts/notes/a.md: GET");
    expect(stdout).toContain("1 failed");
  });
});

describe("the rest", () => {
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

  it("watch follows the latest run unless one is given", async () => {
    const world = await stage();
    expect(await cli(["watch", world.id], world)).toMatchObject({ code: 0, stdout: "All done.\n" });
    expect(await cli(["watch", world.id, world.runId], world)).toMatchObject({
      code: 0,
      stdout: "All done.\n",
    });
    expect(await cli(["watch", world.id, "--from", "1-0"], world)).toMatchObject({ code: 64 });
    const wrong = await cli(["watch", world.id, world.runId, "--from", "nonsense"], world);
    expect(wrong).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("leave it out to follow the run from its start"),
    });
  });

  it("a key may come from a file or from stdin", async () => {
    const { emulator, clock } = await stage({ keys: [{ key: "key-of-the-file" }] });
    const env = { CURSOR_API_KEY: undefined };
    const piped = await cli(["me", "--api-key-file", "-"], {
      emulator,
      clock,
      env,
      stdin: "key-of-the-file\n",
    });
    expect(piped.code).toBe(0);
    const missing = await cli(["me", "--api-key-file", "/nowhere/key"], { emulator, clock, env });
    expect(missing).toMatchObject({ code: 64, stderr: "error: there is no file /nowhere/key\n" });
    const empty = await cli(["me", "--api-key-file", "-"], { emulator, clock, env });
    expect(empty).toMatchObject({ code: 4, stderr: expect.stringContaining("there is no API key in stdin") });
  });
});
