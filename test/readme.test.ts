import { mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Cursor } from "cursor-cloud-agents";
import type { CursorEmulator } from "cursor-cloud-agents/emulator";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { compileSnippets } from "./readme/compile.ts";
import { runSnippet, type SnippetGlobals, type SnippetRun } from "./readme/run.ts";
import { extractSnippets, type Snippet } from "./readme/snippets.ts";
import { checkedEmulator } from "./support/checked-emulator.ts";

const markdown = await readFile(new URL("../README.md", import.meta.url), "utf8");
const snippets = extractSnippets(markdown);

const capturedRun = [
  'event: status\ndata: {"runId":"run-1","status":"RUNNING"}\n\n',
  'id: 100-0\nevent: assistant\ndata: {"text":"Fixed."}\n\n',
  'id: 101-0\nevent: result\ndata: {"runId":"run-1","status":"FINISHED","text":"Fixed."}\n\n',
  "id: 101-0\nevent: done\ndata: {}\n\n",
].join("");

/** What a snippet must have come to, beyond its end. By name: a snippet that is renamed or gone fails here. */
const outcomes: Record<string, (run: SnippetRun, emulator: CursorEmulator) => unknown> = {
  "cursor-cloud-agents 1": ({ output }) => {
    expect(output).toMatch(/My notes are in `artifacts\/notes\.md`\.https:\/\/\S+ FINISHED\n$/);
  },
  "Agents and runs 1": ({ output }, emulator) => {
    expect(output).toMatch(/FINISHED I looked at the repository .*“Explain this repository”/);
    expect(output).toContain("“Also add tests”");
    expect(emulator.agents).toHaveLength(2);
  },
  "Streaming to a UI 1": async ({ exports }) => {
    const get = exports["GET"] as (request: Request) => Response;
    const all = await get(new Request("https://ui.test/")).text();
    expect(all).toMatch(/^data: \{"type":"status"/);
    expect(all).toMatch(/"type":"done"[^\n]*\n\n$/);
    const ids = [...all.matchAll(/^id: (.+)$/gm)].map(([, id]) => id as string);
    const headers = { "last-event-id": ids[2] as string };
    const rest = await get(new Request("https://ui.test/", { headers })).text();
    expect([...rest.matchAll(/^id: (.+)$/gm)].map(([, id]) => id)).toEqual(ids.slice(3));
  },
  "Streaming to a UI 2": ({ output }) => {
    expect(output).toMatch(/artifacts\/notes\.md`\.\nread_file completed\nrun_terminal_cmd completed\n$/);
  },
  "Resume and retries 1": ({ output }) => {
    // The status and the first piece before the break, the rest after it.
    expect(output).toMatch(
      /^status\n(?:thinking\n|tool_call\n)+assistant\nassistant\nassistant\nresult\ndone\n$/,
    );
  },
  "Errors 1": ({ output }, emulator) => {
    expect(output).toBe("still at work\n");
    expect(emulator.runs(emulator.agents[0]?.id as string)).toHaveLength(1);
  },
  "Artifacts, pages, usage 1": async ({ output }) => {
    expect(output).toMatch(/^bc-\S+ .+\nartifacts\/notes\.md \d+\n1 0 0\n# Notes\n[\s\S]*\n \d+\n$/);
    expect(await readFile("out/notes.md", "utf8")).toMatch(/^# Notes/);
  },
  "Testing with the emulator 1": () => {},
  "Testing with the emulator 2": ({ output }) => expect(output).toBe("Fixed.\n"),
};

/** What stands ready for a snippet, where that is more than an agent whose run is over. */
const stages: Record<string, (emulator: CursorEmulator) => unknown> = {
  "Errors 1": (emulator) => emulator.script(/./, (run) => run.hold("never")),
  "Testing with the emulator 2": () => writeFile("run.sse", capturedRun),
};

/** An emulator of the snippet's own, over HTTP: `new Cursor()` finds it in the environment. */
async function setStage(name: string): Promise<SnippetGlobals & { emulator: CursorEmulator }> {
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
  await stages[name]?.(emulator);
  const cursor = new Cursor();
  const { agent, run } = await cursor.agents.create({ prompt: "Add a README with setup instructions" });
  return { cursor, agent, run, emulator };
}

const snippet = (code: string): Snippet => ({ name: "test", code, line: 1 });

describe("README.md", () => {
  afterEach(() => vi.unstubAllEnvs());

  it("is 300 lines at most", () => {
    expect(markdown.trimEnd().split("\n").length).toBeLessThanOrEqual(300);
  });

  it("has snippets that compile under the project's tsconfig", () => {
    expect(compileSnippets(snippets)).toEqual([]);
  });

  it("has snippets with known outcomes, and no others", () => {
    const notRun = snippets.filter((each) => each.notRun !== undefined);
    if (notRun.length > 0) {
      const lines = notRun.map(({ name, line, notRun }) => `  README.md:${line} ${name}: ${notRun}`);
      console.warn(`NOT RUN, only compiled:\n${lines.join("\n")}`);
    }
    const run = snippets.filter((each) => each.notRun === undefined);
    expect(run.map(({ name }) => name)).toEqual(Object.keys(outcomes));
    expect(Object.keys(outcomes)).toEqual(expect.arrayContaining(Object.keys(stages)));
  });

  for (const each of snippets.filter(({ notRun }) => notRun === undefined)) {
    it(`has a snippet that runs: ${each.name} (line ${each.line})`, async () => {
      const { emulator, ...globals } = await setStage(each.name);
      const outcome = await runSnippet(each, globals);
      await outcomes[each.name]?.(outcome, emulator);
      await vi.waitFor(() => expect(emulator.connections).toBe(0));
    });
  }

  it("names files, scripts and links that exist", async () => {
    const files = await readdir(new URL("../", import.meta.url));
    for (const [, target = ""] of markdown.matchAll(/\]\((?!https?:)([^)#]+)\)/g))
      expect(files).toContain(target);
    const manifest = await readFile(new URL("../package.json", import.meta.url), "utf8");
    const { scripts } = JSON.parse(manifest) as { scripts: Record<string, string> };
    for (const [, script = ""] of markdown.matchAll(/npm run ([\w:-]+)/g))
      expect(scripts).toHaveProperty(script);
  });
});

describe("the check of the snippets", () => {
  it("reports what doesn't compile, by its line", () => {
    const broken = { ...snippet('const a = 1;\ncursor.agents.remove("bc-1");\nexport { a };'), line: 40 };
    expect(compileSnippets([broken])).toEqual([
      "README.md:41 (test): TS2339 Property 'remove' does not exist on type 'Agents'.",
    ]);
  });

  it("reports what throws, awaited at the top or in a loop", async () => {
    const globals = await setStage("");
    const rejecting = snippet('await cursor.agents.get("bc-unknown");');
    await expect(runSnippet(rejecting, globals)).rejects.toThrow("404 agent_not_found");
    const failing = snippet('import assert from "node:assert/strict";\nassert.equal(agent.id, run.id);');
    await expect(runSnippet(failing, globals)).rejects.toThrow(/strictly equal/);
  });

  it("finds each block, and why one isn't run", () => {
    const fence = "```";
    const text = `# A\n\n${fence}ts\na;\n${fence}\n${fence}sh\nb\n${fence}\n## B\n<!-- not run: costs money -->\n${fence}ts\nc;\nd;\n${fence}\n`;
    expect(extractSnippets(text)).toEqual([
      { name: "A 1", code: "a;", line: 4 },
      { name: "B 1", code: "c;\nd;", line: 12, notRun: "costs money" },
    ]);
    expect(() => extractSnippets(`${fence}ts\na;`)).toThrow("has no end");
  });
});
