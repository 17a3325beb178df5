import { Cursor, isApiError } from "cursor-cloud-agents";
import { ManualClock } from "cursor-cloud-agents/emulator";
import { expect, it } from "vitest";
import { checkedEmulator } from "../support/checked-emulator.ts";
import { fanOut, isFailure, type Row, toTable } from "./fan-out/fan-out.ts";

const repositories = Array.from({ length: 30 }, (_, index) => `https://github.com/your-org/r${index}`);

function stage(options: Parameters<typeof checkedEmulator>[0] = {}) {
  const clock = new ManualClock();
  const emulator = checkedEmulator({ clock, ...options });
  const atWork = () =>
    emulator.agents.filter(({ id }) =>
      ["CREATING", "RUNNING"].includes(emulator.runs(id).at(-1)?.status ?? ""),
    );
  let most = 0;
  emulator.script("licence", (run) => {
    // The one this is written for isn't listed yet, or is already.
    most = Math.max(most, new Set([...atWork().map(({ id }) => id), run.context.agentId]).size);
    const number = Number(run.context.repoUrl?.split("/r")[1]);
    run.wait(60_000 + 1_000 * number);
    return number === 7 ? run.fail() : run.finish({ branch: `cursor/licence-${number}` });
  });
  const start = (more: Partial<Parameters<typeof fanOut>[0]> = {}) => {
    const cursor = new Cursor({ apiKey: "test", fetch: emulator.fetch, clock });
    const job = { cursor, prompt: "Add a licence", repositories, job: "licences/1", concurrency: 5, ...more };
    return clock.run(fanOut(job));
  };
  const creates = () => emulator.requests.filter(({ operationId }) => operationId === "createAgent");
  return { emulator, start, creates, most: () => most };
}

it("the fan-out works on all repositories, never more than its cap at once, and keeps failures apart", async () => {
  const { emulator, start, most } = stage();
  emulator.faults.status(
    ({ operationId, bodyText }) => operationId === "createAgent" && bodyText.includes('/r11"'),
    403,
    { code: "repository_access_denied" },
  );
  const rows = await start();
  expect(rows.map(({ repository }) => repository)).toEqual(repositories);
  expect(rows[0]).toMatchObject({ status: "FINISHED", branch: "cursor/licence-0" });
  expect(rows.filter(isFailure).map(({ repository }) => repository.split("/").at(-1))).toEqual(["r7", "r11"]);
  expect(rows[7]?.status).toBe("ERROR");
  expect(isApiError(rows[11]?.error, "repository_access_denied")).toBe(true);
  expect(emulator.agents).toHaveLength(29);
  expect(most()).toBe(5);
  const lines = toTable(rows).split("\n");
  expect(lines[0]).toMatch(/^FINISHED {4}your-org\/r0 {3}https:\/\/github\.com\/your-org\/r0\/pull\/\d+$/);
  expect(lines.slice(-2)).toEqual([
    "ERROR       your-org/r7",
    expect.stringMatching(/^no outcome {2}your-org\/r11 {2}POST \/v1\/agents -> 403/),
  ]);
});

it("the fan-out that is started again finds its agents, and makes those that are missing", async () => {
  const { emulator, start } = stage();
  const stopping = new AbortController();
  let done = 0;
  const onRow = () => {
    if (++done === 10) stopping.abort(new Error("the machine went down"));
  };
  await expect(start({ onRow, signal: stopping.signal })).rejects.toThrow("the machine went down");
  const before = emulator.agents.map(({ id }) => id);
  expect(before.length).toBeGreaterThanOrEqual(10);
  expect(before.length).toBeLessThan(20);
  const rows: Row[] = await start();
  expect(rows.filter(({ status }) => status === "FINISHED")).toHaveLength(29);
  expect(emulator.agents).toHaveLength(30);
  expect(rows.map(({ agentId }) => agentId)).toEqual(expect.arrayContaining(before));
  expect(emulator.agents.every(({ id }) => emulator.runs(id).length === 1)).toBe(true);
  await start({ job: "licences/2", repositories: repositories.slice(0, 1) });
  expect(emulator.agents).toHaveLength(31);
});

it("the fan-out waits where the API says that it is too fast", async () => {
  const { emulator, start, creates } = stage({ rateLimit: { perMinute: 20 } });
  const rows = await start({ concurrency: 30 });
  expect(rows.filter(({ status }) => status === "FINISHED")).toHaveLength(29);
  expect(creates().some(({ status }) => status === 429)).toBe(true);
  expect(emulator.agents).toHaveLength(30);
});
