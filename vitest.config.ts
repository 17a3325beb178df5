import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";

const source = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

export default defineConfig({
  resolve: {
    // Tests and examples import the package by its public name, as its users do; here the name means the sources.
    alias: [
      { find: /^cursor-cloud-agents$/, replacement: source("index.ts") },
      { find: /^cursor-cloud-agents\/workers$/, replacement: source("workers/index.ts") },
      { find: /^cursor-cloud-agents\/serve$/, replacement: source("serve/index.ts") },
      { find: /^cursor-cloud-agents\/ai-sdk$/, replacement: source("ai-sdk/index.ts") },
      { find: /^cursor-cloud-agents\/store$/, replacement: source("store/index.ts") },
      { find: /^cursor-cloud-agents\/react$/, replacement: source("react/index.ts") },
      { find: /^cursor-cloud-agents\/node$/, replacement: source("node/index.ts") },
      { find: /^cursor-cloud-agents\/emulator$/, replacement: source("emulator/index.ts") },
    ],
  },
  test: {
    // A clock that is moved by hand does not wait for a part that is loaded at its first use.
    setupFiles: ["test/support/loaded.ts"],
    include: ["test/**/*.test.{ts,tsx}"],
    // They have a configuration of their own: what they import is the packed package.
    exclude: [...configDefaults.exclude, "test/pack/**"],
    testTimeout: 20_000,
    // Loading the modules for each file takes as long as the tests: no core is left aside.
    maxWorkers: "100%",
    unstubGlobals: true,
  },
});
