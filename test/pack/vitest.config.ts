import { defineConfig } from "vitest/config";

// No alias here, unlike in the other tests: what is tested is the package as npm would install it.
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["*.test.ts"],
    globalSetup: "setup.ts",
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // One compiler for each core.
    maxConcurrency: 2,
  },
});
