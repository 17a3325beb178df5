import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ManualClock } from "cursor-cloud-agents/emulator";
import { describe, expect, it } from "vitest";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { cli, key, temporaryFolder } from "./helpers.ts";

const repo = "https://github.com/your-org/your-repo";

function stage() {
  const clock = new ManualClock();
  return { clock, emulator: checkedEmulator({ clock }) };
}

const bodyOf = ({ emulator }: ReturnType<typeof stage>) =>
  // biome-ignore lint/suspicious/noExplicitAny: a body of any shape
  emulator.requests.find(({ operationId }) => operationId === "createAgent")?.json as any;

describe("the parameters of a new agent", () => {
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

    const rejected = await cli(["run", "x", "--env-var", "TOKEN=hush-hush"], world);
    expect(rejected.code).toBe(64);
    expect(rejected.stderr).toContain("--env-var takes a name only");
    expect(rejected.stderr).not.toContain("hush-hush");
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
      [["run", "x", "--image", join(folder, "text")], /PNG, JPEG, GIF or WebP/],
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
