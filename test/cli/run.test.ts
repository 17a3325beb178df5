import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ManualClock, type ScriptBuilder } from "cursor-cloud-agents/emulator";
import { describe, expect, it } from "vitest";
import { until } from "../support/api-server.ts";
import { checkedEmulator } from "../support/checked-emulator.ts";
import {
  agentId,
  assistant,
  done,
  END,
  failure,
  frame,
  result,
  runId,
  StreamServer,
  status,
} from "../support/stream-server.ts";
import { begin, cli, key, turns } from "./helpers.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const repo = "https://github.com/your-org/your-repo";

function stage(script?: ScriptBuilder) {
  const clock = new ManualClock();
  const emulator = checkedEmulator({ clock });
  if (script) emulator.script(() => true, script);
  return { clock, emulator };
}

const bodyOf = ({ emulator }: ReturnType<typeof stage>) =>
  // biome-ignore lint/suspicious/noExplicitAny: a body of any shape
  emulator.requests.find(({ operationId }) => operationId === "createAgent")?.json as any;

describe("run", () => {
  it("prints the reply on stdout, and tools, outcome, branches and pull requests on stderr", async () => {
    const world = stage((run) =>
      run
        .thinking("Hm.")
        .text("I'll look.")
        .tool("read_file", { path: "README.md" }, { content: "# Hi" })
        .tool("run_terminal_cmd", { command: "npm test" }, undefined, { error: { message: "no" } })
        .text("Done")
        .text(" it.")
        .finish({ branch: "cursor/x", prUrl: "https://github.com/your-org/your-repo/pull/7" }),
    );
    const { code, stdout, stderr } = await cli(["run", "Fix it", "--repo", repo], world);
    expect(code).toBe(0);
    expect(stdout).toBe("I'll look.\nDone it.\n");
    expect(stderr).toMatch(
      /^creating an agent.*\nbc-\S+ {2}Fix it\nrun-\S+ {2}https:\/\/cursor\.com\/agents\/bc-/,
    );
    expect(stderr.match(/> read_file README\.md/g)).toHaveLength(1);
    expect(stderr).toContain("! run_terminal_cmd npm test (failed)");
    expect(stderr).toMatch(
      /FINISHED in .*\n {2}cursor\/x {2}https:\/\/github\.com\/your-org\/your-repo\/pull\/7/,
    );
    expect(stderr).not.toContain("thinking");
  });

  it.each<[string, ScriptBuilder, number]>([
    ["FINISHED", (run) => run.text("Hi").finish(), 0],
    ["ERROR", (run) => run.text("Hi").fail(), 1],
    ["CANCELLED", (run) => run.text("Hi").cancelled(), 2],
    ["EXPIRED", (run) => run.text("Hi").expire(), 2],
  ])("sets the exit code by the run's status: %s", async (status, script, expected) => {
    const { code, stderr } = await cli(["run", "x"], stage(script));
    expect(code).toBe(expected);
    expect(stderr).toContain(`${status} in`);
  });

  it.each<[unknown, string]>([
    [{ branches: null }, ""],
    [{ branches: {} }, ""],
    [{ branches: "main" }, ""],
    [{ branches: [null, 7, "main", {}, { branch: 7, prUrl: {} }] }, ""],
    [{ branches: [null, { branch: "cursor/x", prUrl: null }] }, "  cursor/x\n"],
    [{ branches: [{ repoUrl: "github.com/a/b", branch: null }] }, "  github.com/a/b: nothing pushed\n"],
    [null, ""],
    ["main", ""],
  ])("sets the exit code by the run's status even if the outcome is malformed: %j", async (git, branches) => {
    const outcome = frame("result", { runId, status: "FINISHED", text: 7, durationMs: "1", git }, "900-0");
    const server = new StreamServer([END(status(), assistant("1-0", "Hi"), outcome, done)]);
    const setting = { fetch: server.fetch as typeof globalThis.fetch, clock: server.clock };
    const { code, stdout, stderr } = await cli(["watch", agentId, runId], setting);
    expect([code, stdout, stderr]).toEqual([0, "Hi\n", `FINISHED\n${branches}`]);
  });

  it("treats an unknown status as a failure", async () => {
    const outcome = frame("result", { runId, status: "PAUSED" }, "900-0");
    const server = new StreamServer([END(status(), assistant("1-0", "Hi"), outcome, done)]);
    const setting = { fetch: server.fetch as typeof globalThis.fetch, clock: server.clock };
    const { code, stdout, stderr } = await cli(["watch", agentId, runId], setting);
    expect([code, stdout, stderr]).toEqual([1, "Hi\n", "PAUSED\n"]);
  });

  it("keeps stream errors out of the reply, and takes the outcome from the run", async () => {
    const closed = failure("upstream_closed", "WritableIterable is closed");
    const server = new StreamServer([END(status(), assistant("1-0", "Hel"), closed), END(result(), done)]);
    const setting = { fetch: server.fetch as typeof globalThis.fetch, clock: server.clock };
    const { code, stdout } = await cli(["watch", agentId, runId, "--verbose"], setting);
    expect([code, stdout]).toEqual([0, "Hel\n"]);
  });

  it("prints each word once through broken connections, and reports those on stderr", async () => {
    const world = stage((run) => run.text("one ").cut().text("two ").cut().text("three").finish());
    const { code, stdout, stderr } = await cli(["run", "x"], world);
    expect([code, stdout]).toEqual([0, "one two three\n"]);
    expect(stderr.match(/~ connection lost; continuing after event/g)).toHaveLength(2);
  });

  it("prints the final reply when the stream is gone", async () => {
    const world = stage((run) => run.text("All of it.").finish());
    const { run } = world.emulator.addAgent({ prompt: { text: "x" } });
    await turns();
    world.emulator.expireStream(run.id);
    const { code, stdout } = await cli(["watch", run.agentId], world);
    expect([code, stdout]).toEqual([0, "All of it.\n"]);
  });

  it("prints thinking and statuses with --verbose, and only the reply and errors with --quiet", async () => {
    const script: ScriptBuilder = (run) => run.thinking("Hm, well.").text("Hi").finish();
    const loud = await cli(["run", "x", "--verbose"], stage(script));
    expect(loud.stderr).toContain("thinking: Hm, well.");
    expect(loud.stderr).toContain("status FINISHED");
    const quiet = await cli(["-q", "run", "x"], stage(script));
    expect(quiet).toMatchObject({ code: 0, stdout: "Hi\n", stderr: "" });
  });

  it("prints the ids and leaves with --no-follow", async () => {
    const world = stage((run) => run.hold("never"));
    const { code, stdout } = await cli(["run", "x", "--no-follow"], world);
    const [agent] = world.emulator.agents;
    expect([code, stdout]).toEqual([0, `${agent?.id} ${agent?.latestRunId}\n`]);
    expect(world.emulator.requests).toHaveLength(1);
  });

  it("stops at --timeout with 3, leaves the run alone and says how to follow it again", async () => {
    const world = stage((run) => run.text("Hi").hold("never"));
    const { code, stderr, stdout } = await cli(["run", "x", "--timeout", "30m"], world);
    const [agent] = world.emulator.agents;
    expect([code, stdout]).toEqual([3, "Hi\n"]);
    expect(stderr).toContain("error: --timeout: the run did not end within 30 min");
    expect(stderr).toMatch(
      new RegExp(`follow it again: cursor-agents watch ${agent?.id} ${agent?.latestRunId} --from \\S+\n`),
    );
    expect(world.emulator.runs(agent?.id as string)[0]?.status).toBe("RUNNING");
  });

  it("leaves no timer or connection behind when the run ends before --timeout", async () => {
    const world = stage((run) => run.text("Hi").finish());
    const { code } = await cli(["run", "x", "--timeout", "30m"], world);
    expect([code, world.clock.pending, world.emulator.connections]).toEqual([0, 0, 0]);
  });

  it("includes the create in --timeout, and says where to look", async () => {
    const clock = new ManualClock();
    const emulator = checkedEmulator({ clock, createDelayMs: 90_000 });
    const { code, stderr } = await cli(["run", "x", "--timeout", "60s"], { clock, emulator });
    expect(code).toBe(3);
    expect(stderr).toContain(`look: cursor-agents show ${emulator.agents[0]?.id}`);
  });

  it("sends every parameter of a create", async () => {
    const folder = await temporaryFolder();
    const mcp = [{ name: "docs", type: "http", url: "https://example.com/mcp" }];
    const subagents = [{ name: "helper", description: "Helps", prompt: "Help." }];
    await writeFile(join(folder, "mcp.json"), JSON.stringify(mcp));
    await writeFile(join(folder, "subagents.json"), JSON.stringify(subagents));
    await writeFile(join(folder, "image"), "GIF89a…");
    const world = stage();
    const { code } = await cli(
      [
        ...["run", "Fix it", "--repo", "your-org/your-repo", "--ref", "main", "--name", "Fixer"],
        ...["--model", "composer-2", "--model-param", "fast=true", "--mode", "plan", "--env-type", "cloud"],
        ...["--auto-create-pr", "--skip-reviewer-request", "--work-on-current-branch"],
        ...["--mcp-file", join(folder, "mcp.json"), "--subagents-file", join(folder, "subagents.json")],
        ...["--image", join(folder, "image")],
      ],
      world,
    );
    expect(code).toBe(0);
    expect(bodyOf(world)).toEqual({
      prompt: {
        text: "Fix it",
        images: [{ data: Buffer.from("GIF89a…").toString("base64"), mimeType: "image/gif" }],
      },
      repos: [{ url: repo, startingRef: "main" }],
      name: "Fixer",
      model: { id: "composer-2", params: [{ id: "fast", value: "true" }] },
      mode: "plan",
      env: { type: "cloud" },
      autoCreatePR: true,
      skipReviewerRequest: true,
      workOnCurrentBranch: true,
      mcpServers: mcp,
      customSubagents: subagents,
      agentId: expect.stringMatching(/^bc-[0-9a-f-]{36}$/),
    });
  });

  it("works on a pull request, in a pool", async () => {
    const world = stage();
    const prUrl = `${repo}/pull/7`;
    await cli(
      [
        "run",
        "x",
        "--repo",
        repo,
        "--pr-url",
        prUrl,
        "--env-type",
        "pool",
        "--env-name",
        "gpu",
        "--no-follow",
      ],
      world,
    );
    expect(bodyOf(world)).toMatchObject({
      repos: [{ url: repo, prUrl }],
      env: { type: "pool", name: "gpu" },
    });
  });

  it("takes variables from this shell and from a file, never from its arguments, and sends no agent id then", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "env"), "# comment\nexport A = \"one two\"\nB='x'\n\nC=a=b\n");
    const world = stage();
    const env = { TOKEN: "hush-hush" };
    await cli(["run", "x", "--env-var", "TOKEN", "--env-file", join(folder, "env")], { ...world, env });
    expect(bodyOf(world).envVars).toEqual({ A: "one two", B: "x", C: "a=b", TOKEN: "hush-hush" });
    expect(bodyOf(world)).not.toHaveProperty("agentId");

    const refused = await cli(["run", "x", "--env-var", "TOKEN=hush-hush"], world);
    expect(refused.code).toBe(64);
    expect(refused.stderr).toContain("--env-var takes a name only");
    expect(refused.stderr).not.toContain("hush-hush");
    await writeFile(join(folder, "env"), "A=1\nhush hush\n");
    const broken = await cli(["run", "x", "--env-file", join(folder, "env")], world);
    expect(broken.stderr).toMatch(/error: .*env: line 2 is not NAME=value\n$/);
  });

  it("reads the prompt from stdin and from a file", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "task.md"), "From\na file\n");
    const piped = stage();
    await cli(["run", "-"], { ...piped, stdin: "From\nstdin\n\n" });
    expect(bodyOf(piped).prompt).toEqual({ text: "From\nstdin" });
    const filed = stage();
    await cli(["run", "--file", join(folder, "task.md")], filed);
    expect(bodyOf(filed).prompt).toEqual({ text: "From\na file" });
  });

  it("creates one agent for a repeated command with --agent-id and --adopt", async () => {
    const world = stage((run) => run.text("Hi").finish());
    const argv = ["run", "x", "--agent-id", "bc-00000000-0000-4000-8000-00000000000a"];
    expect((await cli(argv, world)).code).toBe(0);
    const conflict = await cli(argv, world);
    expect(conflict.code).toBe(1);
    expect(conflict.stderr).toContain("--adopt continues with the existing agent");
    const adopted = await cli([...argv, "--adopt"], world);
    expect(adopted).toMatchObject({ code: 0, stdout: "Hi\n" });
    expect(adopted.stderr).toContain("adopted bc-00000000-0000-4000-8000-00000000000a");
    expect(world.emulator.agents).toHaveLength(1);
  });

  it("creates one agent when the response to the create is lost", async () => {
    const world = stage((run) => run.text("Hi").finish());
    world.emulator.faults.dropAnswer("createAgent");
    const { code, stdout, stderr } = await cli(["run", "x"], world);
    expect([code, stdout, world.emulator.agents.length]).toEqual([0, "Hi\n", 1]);
    expect(stderr).not.toContain("adopted");
  });

  it("waits for a slow reader of stdout", async () => {
    const world = stage((run) => run.text("one ").text("two ").text("three").finish());
    const started = begin(["run", "x"], world);
    started.stdout.takes = false;
    await until(() => started.stdout.text !== "");
    await turns();
    expect(started.stdout.text).toBe("one ");
    started.stdout.takes = true;
    started.stdout.emit("drain");
    expect((await started.ended()).stdout).toBe("one two three\n");
  });

  it("sends nothing when the command line is wrong", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "text"), "not { json");
    const world = stage();
    const wrong: [string[], RegExp][] = [
      [["run"], /there is no prompt/],
      [["run", "  "], /the prompt is empty/],
      [["run", "-"], /the prompt is empty/],
      [["run", "x", "--file", "y"], /there are two prompts/],
      [["run", "--file", join(folder, "none")], /there is no file .*none/],
      [["run", "x", "--ref", "main"], /--ref needs exactly one --repo/],
      [["run", "x", "--repo", repo, "--ref", "main", "--pr-url", "p"], /exclude each other/],
      [["run", "x", "--model-param", "fast=true"], /--model-param needs --model/],
      [["run", "x", "--model", "m", "--model-param", "fast"], /expected id=value/],
      [["run", "x", "--adopt"], /--adopt needs --agent-id/],
      [["run", "x", "--repo", "nonsense"], /--repo: expected your-org\/your-repo .* or a URL/],
      [["run", "x", "--repo", `https://me:${key}@github.com/a/b`], /leave the user name and password out/],
      [["run", "x", "--mcp-file", join(folder, "text")], /not valid JSON/],
      [["run", "x", "--env-var", "NOT_SET"], /NOT_SET is not set in this shell/],
      [["run", "x", "--image", join(folder, "text")], /is no PNG, JPEG, GIF or WebP image/],
      [["run", "x", ...Array.from({ length: 6 }, () => ["--image", "a"]).flat()], /at most 5 images/],
      [["run", "x", "--mode", "fast"], /Allowed choices are agent, plan/],
      [["run", "x", "--timeout", "soon"], /such as 90s, 30m or 1h30m/],
      [
        ["run", "x", "--env-name", "e", "--repo", repo],
        /repos: can't be combined with a named cloud environment/,
      ],
      [["run", "-", "--api-key-file", "-"], /stdin can't hold both/],
    ];
    for (const [argv, message] of wrong) {
      const { code, stderr, stdout } = await cli(argv, world);
      expect([argv, code, stdout]).toEqual([argv, 64, ""]);
      expect(stderr).toMatch(message);
      expect(stderr).not.toContain(key);
    }
    expect(world.emulator.requests).toEqual([]);
  });
});
