/**
 * The parts that are loaded at their first use, loaded: a clock that is moved by hand doesn't wait for a file, so a test
 * that moves it in the same breath would find its first call still loading.
 */
await Promise.all([
  import("p-retry"),
  import("../../src/resources/artifact-download.ts"),
  import("../../src/resources/runs.ts"),
  import("../../src/runs/poller.ts"),
  import("../../src/runs/stream.ts"),
  import("../../src/runs/wait.ts"),
]);
