import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** Where the browser of this test run takes commands. */
    chromium: string;
  }
}

const args = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** One browser for all tests; each test has its own context in it, as good as a new browser. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const executablePath = process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium";
  if (!existsSync(executablePath)) {
    throw new Error(
      `There is no Chromium at ${executablePath}. Install one (Debian: apt-get update && apt-get install -y chromium), ` +
        "or say where yours is: CHROMIUM_PATH=/path/to/chrome npx vitest run --config test/browser/vitest.config.ts",
    );
  }
  const server = await chromium.launchServer({ executablePath, args });
  project.provide("chromium", server.wsEndpoint());
  return () => server.close();
}
