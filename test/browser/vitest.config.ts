import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import base from "../../vitest.config.ts";

/** Real Chromium against the example app: `vitest run --config test/browser/vitest.config.ts`. Apart from `npm test`, which needs no browser. */
export default defineConfig({
  resolve: base.resolve!,
  test: {
    root: fileURLToPath(new URL("../..", import.meta.url)),
    include: ["test/browser/**/*.browser.ts"],
    globalSetup: ["test/browser/support/chromium.ts"],
    // One page is looked at at a time: what a second one does would be measured in the first.
    fileParallelism: false,
    // Each test has a world of its own, so the files can share the modules.
    isolate: false,
    testTimeout: 30_000,
    // A browser takes its time where other work is done beside it.
    expect: { poll: { timeout: 10_000 } },
  },
});
