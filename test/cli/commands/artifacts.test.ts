import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ManualClock } from "cursor-cloud-agents/emulator";
import { describe, expect, it } from "vitest";
import { checkedEmulator } from "../../support/checked-emulator.ts";
import { cli, temporaryFolder, turns } from "../helpers.ts";

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
      expect.objectContaining({ type: "file", state: "rejected", reason: "dot-segment" }),
      { type: "files", saved: 0, skipped: 1, rejected: 1, failed: 0, folder },
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
