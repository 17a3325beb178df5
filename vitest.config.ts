import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from "vitest/config";

const source = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

const every = "test/**/*.test.{ts,tsx}";

/** Files that replace a module for themselves, and so must not share their modules with others. */
const isolated = ["test/errors.test.ts"];

/** Files that start processes or compile programs. */
const slow = [
  "test/{tsdoc,llms,readme,migrating}.test.ts",
  "test/cli/bin.test.ts",
  "test/node/crash.test.ts",
];

/** Files that need the packages of test/ai-sdk; the others in that folder don't. */
const aiSdk = ["test/ai-sdk/{chat,use-chat,properties,example}.test.{ts,tsx}"];

/** The suites by name. One by one, `vitest run PATH` runs any file in the suite it belongs to. */
const suites: Record<string, TestProjectInlineConfiguration["test"]> = {
  unit: {
    include: [every],
    exclude: [
      ...configDefaults.exclude,
      ...["pack", "bounds", "examples"].map((folder) => `test/${folder}/**`),
      ...isolated,
      ...slow,
      ...aiSdk,
    ],
    // To load the modules for each file took more time than the tests.
    isolate: false,
  },
  isolated: { include: isolated },
  slow: { include: slow },
  examples: { include: ["test/examples/**/*.test.ts"], globalSetup: ["test/support/install-packages.ts"] },
  "ai-sdk": { include: aiSdk, globalSetup: ["test/support/install-packages.ts"] },
  bounds: { include: ["test/bounds/**/*.test.ts"] },
};

export default defineConfig({
  resolve: {
    // Tests and examples import the package by its public name, as its users do; here the name means the sources.
    alias: [
      { find: /^cursor-cloud-agents$/, replacement: source("index.ts") },
      { find: /^cursor-cloud-agents\/(\w[\w-]*)$/, replacement: source("$1/index.ts") },
    ],
  },
  test: {
    setupFiles: ["test/support/unhandled-rejections.ts"],
    testTimeout: 20_000,
    // No core is left aside.
    maxWorkers: "100%",
    unstubGlobals: true,
    unstubEnvs: true,
    projects: Object.entries(suites).map(([name, test]) => ({ extends: true, test: { ...test, name } })),
  },
});
