import { Cursor } from "cursor-cloud-agents";
import { ManualClock } from "cursor-cloud-agents/emulator";
import { expect, it } from "vitest";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { gate } from "./ci-gate/gate.ts";

function stage() {
  const clock = new ManualClock();
  const emulator = checkedEmulator({ clock });
  const cursor = new Cursor({ apiKey: "key_CI", fetch: emulator.fetch, clock });
  const lines: string[] = [];
  const run = () =>
    clock.run(
      gate({
        cursor,
        prompt: "Fix the tests",
        repository: "https://github.com/your-org/your-repo",
        startingRef: "main",
        timeout: 30 * 60_000,
        write: (line) => lines.push(line),
      }),
    );
  return { emulator, lines, run };
}

it("the gate opens for a run that finished, and says where its work is", async () => {
  const { emulator, lines, run } = stage();
  emulator.script("tests", (run) =>
    run.wait(90_000).text("All ").cut().text("green.").finish({ branch: "cursor/fix-tests" }),
  );
  expect(await run()).toBe(0);
  expect(emulator.agents[0]).toMatchObject({ repos: [{ startingRef: "main" }], autoCreatePR: true });
  expect(lines).toEqual([
    expect.stringMatching(/^Agent: \[.+\]\(https:\/\/cursor\.com\/agents\/bc-.+\)$/),
    "- RUNNING",
    "- FINISHED",
    "**FINISHED** after 90 s",
    "Branch: `cursor/fix-tests` of github.com/your-org/your-repo",
    expect.stringMatching(/^Pull request: https:\/\/github\.com\/your-org\/your-repo\/pull\/\d+$/),
    "All green.",
  ]);
});

it.each([
  ["failed", "ERROR"],
  ["expired", "EXPIRED"],
  ["was cancelled", "CANCELLED"],
] as const)("the gate stays shut for a run that %s", async (_, status) => {
  const { emulator, lines, run } = stage();
  const end = { ERROR: "fail", EXPIRED: "expire", CANCELLED: "cancelled" } as const;
  emulator.script("tests", (run) => run.text("Half of it.")[end[status]]());
  expect(await run()).toBe(1);
  expect(lines.at(-1)).toMatch(new RegExp(`^\\*\\*${status}\\*\\*`));
});

it("the gate gives up in time, and cancels what nobody waits for", async () => {
  const { emulator, lines, run } = stage();
  emulator.script("tests", (run) => run.hold("never"));
  expect(await run()).toBe(2);
  expect(emulator.runs(emulator.agents[0]?.id ?? "")[0]?.status).toBe("CANCELLED");
  expect(lines.at(-1)).toMatch(/^\*\*No outcome\*\*: run \S+ was not over within 1800000 ms$/);
});

it("the gate says what the API said, and what nobody knows", async () => {
  const refused = stage();
  refused.emulator.faults.status("createAgent", 403, { code: "plan_required" });
  expect(await refused.run()).toBe(2);
  expect(refused.lines).toEqual([
    expect.stringMatching(/^\*\*No outcome\*\*: POST \/v1\/agents -> 403 plan_required/),
  ]);

  const lost = stage();
  lost.emulator.faults.dropAnswer("createAgent", { times: 10 });
  lost.emulator.faults.status("getAgent", 500, { times: 10 });
  expect(await lost.run()).toBe(2);
  expect(lost.lines.at(-1)).toBe(`It may be at work all the same: ${lost.emulator.agents[0]?.id}`);
  expect(JSON.stringify([refused.lines, lost.lines])).not.toContain("key_CI");
});
