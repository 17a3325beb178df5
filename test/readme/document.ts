import { access, mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cursor } from "cursor-cloud-agents";
import type { CursorEmulator } from "cursor-cloud-agents/emulator";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { compileSnippets } from "./compile.ts";
import { runSnippet, type SnippetGlobals, type SnippetRun } from "./run.ts";
import { extractSnippets } from "./snippets.ts";

/** A Markdown file of the repository, and what its snippets are for. */
export interface Document {
  /** Its path from the top of the repository. */
  file: string;
  maxLines: number;
  /** What a snippet must have come to, beyond its end. By name: a snippet that is renamed or gone fails the test. */
  outcomes: Record<string, (run: SnippetRun, emulator: CursorEmulator) => unknown>;
  /** What stands ready for a snippet, where that is more than an agent whose run is over. */
  stages?: Record<string, (emulator: CursorEmulator) => unknown>;
}

/** The text of a file, by its path from the top of the repository. */
export const readDocument = (file: string): Promise<string> =>
  readFile(new URL(`../../${file}`, import.meta.url), "utf8");

/** An emulator of the snippet's own, over HTTP: `new Cursor()` finds it in the environment. */
export async function setStage(
  prepare?: (emulator: CursorEmulator) => unknown,
): Promise<SnippetGlobals & { emulator: CursorEmulator }> {
  const emulator = checkedEmulator({ busyWindowMs: 0 });
  const server = await emulator.listen();
  const cwd = process.cwd();
  process.chdir(await mkdtemp(join(tmpdir(), "cursor-cloud-agents-readme-")));
  onTestFinished(async () => {
    process.chdir(cwd);
    await server.close();
  });
  vi.stubEnv("CURSOR_BASE_URL", server.url);
  vi.stubEnv("CURSOR_API_KEY", "key_README");
  await prepare?.(emulator);
  const cursor = new Cursor();
  const { agent, run } = await cursor.agents.create({ prompt: "Add a README with setup instructions" });
  return { cursor, agent, run, emulator };
}

/** The tests of a document: its length, and that each snippet compiles, runs and comes to what it says. */
export async function describeDocument({ file, maxLines, outcomes, stages = {} }: Document): Promise<void> {
  const markdown = await readDocument(file);
  const snippets = extractSnippets(markdown);

  describe(file, () => {
    afterEach(() => vi.unstubAllEnvs());

    it(`is ${maxLines} lines at most`, () => {
      expect(markdown.trimEnd().split("\n").length).toBeLessThanOrEqual(maxLines);
    });

    // The compiler reads the whole library: its time, not a wait.
    it("has snippets that compile under the project's tsconfig", { timeout: 60_000 }, () => {
      expect(compileSnippets(snippets, file)).toEqual([]);
    });

    it("has snippets with known outcomes, and no others", () => {
      const notRun = snippets.filter((each) => each.notRun !== undefined);
      if (notRun.length > 0) {
        const lines = notRun.map(({ name, line, notRun }) => `  ${file}:${line} ${name}: ${notRun}`);
        console.warn(`NOT RUN, only compiled:\n${lines.join("\n")}`);
      }
      const run = snippets.filter((each) => each.notRun === undefined);
      expect(run.map(({ name }) => name)).toEqual(Object.keys(outcomes));
      expect(Object.keys(outcomes)).toEqual(expect.arrayContaining(Object.keys(stages)));
    });

    for (const each of snippets.filter(({ notRun }) => notRun === undefined)) {
      it(`has a snippet that runs: ${each.name} (line ${each.line})`, async () => {
        const { emulator, ...globals } = await setStage(stages[each.name]);
        const outcome = await runSnippet(each, globals);
        await outcomes[each.name]?.(outcome, emulator);
        await vi.waitFor(() => expect(emulator.connections).toBe(0));
      });
    }

    it("names files, scripts and links that exist", async () => {
      const place = new URL(`../../${file}`, import.meta.url);
      for (const [, target = ""] of markdown.matchAll(/\]\((?!https?:|#)([^)#]+)/g))
        await expect(access(new URL(target, place)), target).resolves.toBeUndefined();
      const manifest = await readDocument("package.json");
      const { scripts } = JSON.parse(manifest) as { scripts: Record<string, string> };
      for (const [, script = ""] of markdown.matchAll(/npm run ([\w:]+)/g))
        expect(scripts).toHaveProperty(script);
    });
  });
}
