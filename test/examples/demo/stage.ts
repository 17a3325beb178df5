import { CursorEmulator, type EmulatorServer } from "cursor-cloud-agents/emulator";

/** What the emulated agent will have said, to check that it arrived whole. */
export const reply =
  "I added a README.md with installation instructions, a first example and a section on testing. " +
  "The commands in it were run once, from a fresh clone, and each of them works.";

const report = `# What was done\n\n${"- read the package file, ran its commands, wrote the README\n".repeat(9_000)}`;

export interface Stage {
  emulator: CursorEmulator;
  server: EmulatorServer;
}

/**
 * An emulated Cursor over HTTP, with an agent that adds a README and a network that doesn't hold: the stream is cut
 * twice (once between the frames of a tool call, once in the middle of a word), the download once.
 */
export async function setStage({ pace = 25 }: { pace?: number } = {}): Promise<Stage> {
  const emulator = new CursorEmulator({
    pace,
    busyWindowMs: 500,
    keys: [{ key: "demo-key-of-the-emulator" }],
  });
  emulator.script(/README/, (run) => {
    run
      .thinking("The repository has no README. ")
      .thinking("I'll look at what it holds, then write one that a newcomer can follow.")
      .tool("read_file", { path: "package.json" }, { content: '{ "name": "your-repo" }', totalLines: 1 })
      .cut({ afterEvents: 1 })
      .tool(
        "run_terminal_cmd",
        { command: "npm test" },
        { command: "npm test", stdout: "12 passed\n", executionTime: 840 },
      )
      .tool("edit_file", { path: "README.md" }, { path: "README.md", linesAdded: 42, linesRemoved: 0 });
    const words = reply.match(/\s*\S+/g) ?? [];
    words.forEach((word, index) => {
      if (index === 9) run.text(word.slice(0, 4)).cut().text(word.slice(4));
      else run.text(word);
    });
    return run
      .artifact("artifacts/report.md", report, "text/markdown")
      .usage({ inputTokens: 6_160, outputTokens: 1_660, cacheWriteTokens: 11_100, cacheReadTokens: 21_300 })
      .finish({ branch: "cursor/add-readme-a1b2", prUrl: "https://github.com/your-org/your-repo/pull/123" });
  });
  emulator.script(/troubleshooting/, (run) =>
    run
      .tool("edit_file", { path: "README.md" }, { path: "README.md", linesAdded: 11, linesRemoved: 0 })
      .text("README.md now ends ")
      .text("with troubleshooting steps.")
      .usage({ inputTokens: 6_320, outputTokens: 1_450, cacheWriteTokens: 7_100, cacheReadTokens: 21_300 })
      .finish(),
  );
  emulator.script(/one sentence/, (run) =>
    run.text("A README that a newcomer ").text("can follow to the end.").finish(),
  );
  emulator.faults.cut("getArtifactBytes", { afterBytes: Math.floor(report.length * 0.4) });
  return { emulator, server: await emulator.listen() };
}
