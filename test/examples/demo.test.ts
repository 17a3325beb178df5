import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { reply } from "./demo/stage.ts";

const main = fileURLToPath(new URL("./demo/main.ts", import.meta.url));
const tsx = fileURLToPath(import.meta.resolve("tsx"));

const run = (args: string[], environment: Record<string, string> = {}) =>
  promisify(execFile)(process.execPath, ["--import", tsx, main, ...args], {
    env: { PATH: process.env["PATH"] ?? "", ...environment },
  });

describe("the demo", () => {
  it("plays the whole story on the emulator: reply once and whole, resumed, followed up, saved to disk", async () => {
    const { stdout, stderr } = await run([]);
    expect(stderr).toBe("");
    expect(stdout.split(reply)).toHaveLength(2);
    expect(stdout.match(/connection lost; going on after event/g)).toHaveLength(2);
    expect(stdout).toContain("README.md now ends with troubleshooting steps.");
    expect(stdout).toMatch(/page 1\n(.*\n){2} {2}page 2\n/);
    expect(stdout).toMatch(/all( +[\d,]+){5}\n/);
    expect(stdout).toMatch(/█{28} 100 %/);
    expect(stdout).toContain("no word lost, no word twice");
    // No colours, no carriage returns where the output is no terminal.
    expect(stdout).not.toMatch(/[\u001b\r]/);
  });

  it("sends nothing to the real API unless a person agrees", async () => {
    const { stdout } = await run(["--live"], {
      CURSOR_API_KEY: "key_TEST",
      CURSOR_BASE_URL: "http://127.0.0.1:9",
    });
    expect(stdout).toContain("Nothing was sent.");
  });

  it("says what is missing when there is no key", async () => {
    await expect(run(["--live"])).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining("ArgumentError: apiKey: is missing"),
    });
  });

  it("says how it is used when a flag is wrong", async () => {
    await expect(run(["--lvie"])).rejects.toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(/--lvie[\s\S]*npm run demo -- --live/),
    });
    expect((await run(["--help"])).stdout).toContain("asks before it spends");
  });
});
