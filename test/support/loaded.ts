/**
 * The parts that are loaded at their first use, loaded: a clock that is moved by hand doesn't wait for a file, so a test
 * that moves it in the same breath would find its first call still loading.
 */
await Promise.all([
  import("p-retry"),
  import("../../src/fleet/controller-loop.ts"),
  import("../../src/fleet/watches.ts"),
  import("../../src/resources/artifact-download.ts"),
  import("../../src/resources/until-free.ts"),
  import("../../src/run-stream/run-poller.ts"),
  import("../../src/run-stream/run-stream.ts"),
  import("../../src/run-stream/wait.ts"),
]);
