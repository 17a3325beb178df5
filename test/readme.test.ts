import { readFile } from "node:fs/promises";
import { createElement, type FunctionComponent } from "react";
import { renderToString } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { compileSnippets } from "./readme/compile.ts";
import { type Document, describeDocument, setStage } from "./readme/document.ts";
import { runSnippet } from "./readme/run.ts";
import { extractSnippets, type Snippet } from "./readme/snippets.ts";

const outcomes: Document["outcomes"] = {
  "cursor-cloud-agents 1": ({ output }) => {
    expect(output).toMatch(/My notes are in `artifacts\/notes\.md`\.https:\/\/\S+ FINISHED\n$/);
  },
  "Agents and runs 1": ({ output }, emulator) => {
    expect(output).toMatch(/FINISHED I looked at the repository .*“Explain this repository”/);
    expect(output).toContain("“Also add tests”");
    expect(emulator.agents).toHaveLength(2);
  },
  "Streaming to a UI 1": async ({ exports }) => {
    const get = exports["GET"] as (request: Request) => Promise<Response>;
    const all = await (await get(new Request("https://ui.test/"))).text();
    expect(all).toMatch(/"type":"done"[^\n]*\n\nid: end:\S+\n/);
    const ids = [...all.matchAll(/^id: (.+)$/gm)].map(([, id]) => id as string);
    const headers = { "last-event-id": ids[2] as string };
    const rest = await (await get(new Request("https://ui.test/", { headers }))).text();
    expect([...rest.matchAll(/^id: (.+)$/gm)].map(([, id]) => id)).toEqual(ids.slice(3));
  },
  "Streaming to a UI 2": ({ exports }) => {
    const reply = createElement(exports["Reply"] as FunctionComponent<{ url: string }>, { url: "/runs/1" });
    expect(renderToString(reply)).toBe("<p>…</p>");
  },
  "Streaming to a UI 3": async ({ exports }, emulator) => {
    const post = exports["POST"] as () => Response;
    expect(await post().text()).toMatch(/"type":"text-delta"[\s\S]*"type":"finish"\}\n\ndata: \[DONE\]\n\n$/);
    const get = exports["GET"] as (request: Request) => Promise<Response>;
    expect((await get(new Request("https://ui.test/"))).status).toBe(204);
    expect(emulator.agents).toHaveLength(1);
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
};

const stages: Document["stages"] = {
  "Errors 1": (emulator) => emulator.script(/./, (run) => run.hold("never")),
};

await describeDocument({ file: "README.md", maxLines: 300, outcomes, stages });

const snippet = (code: string): Snippet => ({ name: "test", code, line: 1 });

describe("the check of the snippets", () => {
  it("reports what doesn't compile, by its line", { timeout: 60_000 }, () => {
    const broken = { ...snippet('const a = 1;\ncursor.agents.remove("bc-1");\nexport { a };'), line: 40 };
    expect(compileSnippets([broken])).toEqual([
      "README.md:41 (test): TS2339 Property 'remove' does not exist on type 'Agents'.",
    ]);
  });

  it("reports what throws, awaited at the top or in a loop", async () => {
    const globals = await setStage();
    const rejecting = snippet('await cursor.agents.get("bc-00000000-0000-4000-8000-0000000000ff");');
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
