import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CursorEmulator } from "cursor-cloud-agents/emulator";
import { saveArtifact, saveArtifacts } from "cursor-cloud-agents/node";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryStem } from "../../src/node/leftovers.ts";
import { patterned, servedStage, tree } from "./helpers.ts";

const MiB = 1024 * 1024;
const path = "artifacts/film.mp4";

function startChild(baseUrl: string, ...args: string[]): ChildProcess {
  const script = fileURLToPath(new URL("save-child.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", script, ...args], {
    env: { ...process.env, CURSOR_BASE_URL: baseUrl },
    stdio: ["ignore", "inherit", "inherit"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  return child;
}

/** Waits for what another process does in its own time. */
async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + 15_000;
  while (!condition()) {
    if (Date.now() > end) throw new Error("it never came true");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const sizeOfTemporary = (folder: string) => {
  const [name] = readdirSync(folder).filter((candidate) => candidate.endsWith(".bytes"));
  return name === undefined ? 0 : statSync(join(folder, name)).size;
};

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  expect(await gone).toEqual([null, "SIGKILL"]);
}

describe("a process that is killed in the middle", () => {
  it("leaves no half file, and the next one goes on from the last bytes that are surely on the disk", async () => {
    const bytes = patterned(6 * MiB);
    const parts = await servedStage({ [path]: bytes }, new CursorEmulator());
    const { cursor, agentId, folder, emulator, server, downloads } = parts;
    emulator.faults.stall("getArtifactBytes", { afterBytes: 5 * MiB });
    const to = join(folder, "film.mp4");
    writeFileSync(to, "old");
    const child = startChild(server.url, agentId, path, to);
    await until(() => sizeOfTemporary(folder) === 5 * MiB);
    await kill(child);
    expect(readFileSync(to, "utf8")).toBe("old");
    const names = readdirSync(folder).sort();
    expect(names.map((name) => name.replace(/^(\.cursor-part-).*\./, "$1….")).sort()).toEqual([
      ".cursor-part-….bytes",
      ".cursor-part-….json",
      "film.mp4",
    ]);

    const saved = await saveArtifact(cursor, agentId, path, { to });
    expect(saved.sizeBytes).toBe(6 * MiB);
    expect(saved.resumedFrom).toBeGreaterThanOrEqual(4 * MiB);
    expect(readFileSync(to).equals(bytes)).toBe(true);
    expect(downloads().at(-1)).toMatchObject({
      status: 206,
      headers: { range: `bytes=${saved.resumedFrom}-`, "if-range": expect.stringMatching(/^"/) },
    });
    expect(tree(folder)).toEqual(["film.mp4"]);
  });

  it("has recorded the files that were finished", async () => {
    const parts = await servedStage({ "artifacts/a": "A", [path]: patterned(100_000) }, new CursorEmulator());
    const { cursor, agentId, folder, emulator, server } = parts;
    emulator.faults.stall(({ url }) => url.includes("film.mp4?X-Amz"), { afterBytes: 50_000 });
    const child = startChild(server.url, agentId, "all", folder);
    await until(
      () => sizeOfTemporary(folder) === 50_000 && readdirSync(folder).includes(".cursor-artifacts.json"),
    );
    await kill(child);
    const report = await saveArtifacts(cursor, agentId, folder);
    expect(report.skipped.map((file) => file.path)).toEqual(["artifacts/a"]);
    expect(report.saved.map((file) => file.path)).toEqual([path]);
    expect(tree(folder)).toEqual([".cursor-artifacts.json", "a", "film.mp4"]);
  });

  it("in the middle of its notes has left a file that the next one removes", async () => {
    const { cursor, agentId, folder } = await servedStage({ "artifacts/a": "A" }, new CursorEmulator());
    const stem = temporaryStem(".cursor-artifacts.json").split("-").slice(0, -3).join("-");
    const [dead, alive] = [
      `${stem}-${2 ** 22 + 1}-0-0123456789ab.json`,
      `${stem}-${process.ppid}-0-0123456789ab.json`,
    ];
    for (const name of [dead, alive]) writeFileSync(join(folder, name), "{");
    await saveArtifacts(cursor, agentId, folder);
    expect(tree(folder)).toEqual([".cursor-artifacts.json", alive, "a"]);
  });
});
