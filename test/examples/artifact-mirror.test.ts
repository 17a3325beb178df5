import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Cursor } from "cursor-cloud-agents";
import { expect, it, onTestFinished, vi } from "vitest";
import { patterned, temporaryFolder, tree } from "../node/helpers.ts";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { mirror } from "./artifact-mirror/mirror.ts";

const main = fileURLToPath(new URL("./artifact-mirror/main.ts", import.meta.url));
const tsx = fileURLToPath(import.meta.resolve("tsx"));
const MiB = 1024 * 1024;
const film = patterned(6 * MiB);

/** Three agents, listed newest first: the second of them has the film. */
function stage() {
  const emulator = checkedEmulator();
  emulator.script(/./, (run) => run.finish());
  const agents = ["first", "second", "third"].map((text) => emulator.addAgent({ prompt: { text } }).agent.id);
  for (const id of agents) emulator.addArtifact(id, "artifacts/notes/a.md", `notes of ${id}`);
  emulator.addArtifact(agents[1] ?? "", "artifacts/film.mp4", film);
  const downloads = () =>
    emulator.requests.filter(({ operationId }) => operationId === "getArtifactBytes").map(({ url }) => url);
  return { emulator, agents, folder: temporaryFolder(), downloads };
}

it("the mirror that was killed goes on where it was: nothing twice, nothing torn", {
  timeout: 60_000,
}, async () => {
  const { emulator, agents, folder, downloads } = stage();
  const [third = "", second = "", first = ""] = [...agents].reverse();
  const server = await emulator.listen();
  onTestFinished(() => server.close());
  emulator.faults.stall(({ url }) => url.includes("film.mp4?X-Amz"), { afterBytes: 5 * MiB });
  const child = spawn(process.execPath, ["--import", tsx, main, folder], {
    env: { PATH: process.env["PATH"] ?? "", CURSOR_API_KEY: "test", CURSOR_BASE_URL: server.url },
    stdio: "ignore",
  });
  const exit = once(child, "exit");
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const halfFilm = () => readdirSync(join(folder, second)).find((name) => name.endsWith(".bytes")) ?? "";
  await vi.waitFor(() => expect(statSync(join(folder, second, halfFilm())).size).toBe(5 * MiB), {
    timeout: 30_000,
    interval: 20,
  });
  child.kill("SIGKILL");
  expect(await exit).toEqual([null, "SIGKILL"]);
  expect(tree(folder)).toContain(`${third}/notes/a.md`);
  expect(tree(folder)).not.toContain(`${second}/film.mp4`);

  const cursor = new Cursor({ apiKey: "test", baseUrl: server.url });
  const report = await mirror({ cursor, folder });
  expect(report.problems).toEqual([]);
  expect(report.saved + report.unchanged).toBe(4);
  expect(readFileSync(join(folder, second, "film.mp4")).equals(film)).toBe(true);
  for (const id of agents)
    expect(readFileSync(join(folder, id, "notes/a.md"), "utf8")).toBe(`notes of ${id}`);
  expect(tree(folder).filter((name) => !/\/$|\.cursor-artifacts\.json$/.test(name))).toEqual(
    [...agents.map((id) => `${id}/notes/a.md`), `${second}/film.mp4`].sort(),
  );
  // The film took two requests, the second for what was missing; of the notes, each came once.
  expect(downloads().filter((url) => url.includes("film.mp4"))).toHaveLength(2);
  expect(
    emulator.requests.find(({ url, headers }) => url.includes("film.mp4?") && headers["range"]),
  ).toBeDefined();
  for (const id of [third, first])
    expect(downloads().filter((url) => url.includes(id) && url.includes("a.md"))).toHaveLength(1);

  const before = downloads().length;
  expect(await mirror({ cursor, folder })).toEqual({ saved: 0, unchanged: 4, problems: [] });
  expect(downloads()).toHaveLength(before);
});

it("the mirror goes past an agent that is gone or in trouble, and stops where nothing can work", async () => {
  const { emulator, agents, folder } = stage();
  const cursor = new Cursor({ apiKey: "test", fetch: emulator.fetch, maxRetries: 0 });
  const [first, second, third] = agents as [string, string, string];
  const listing = (id: string) => (request: { path: string }) => request.path.includes(`${id}/artifacts`);
  emulator.faults.status(listing(third), 404, { code: "agent_not_found" });
  emulator.faults.status(listing(second), 500);
  const report = await mirror({ cursor, folder });
  expect(report).toMatchObject({ saved: 1, unchanged: 0 });
  expect(report.problems).toEqual([expect.stringMatching(new RegExp(`^${second}: GET .* -> 500`))]);
  expect(readdirSync(folder)).toEqual([first]);
  emulator.faults.status(listing(third), 401);
  await expect(mirror({ cursor, folder })).rejects.toThrow("401");
  await expect(mirror({ cursor, folder, signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow(
    "enough",
  );
});
