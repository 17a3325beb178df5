import type { RunScript } from "../emulator/index.ts";

/**
 * What a run of the served emulator does: work that one can watch, and trouble where the prompt asks for it.
 * @param pace Milliseconds before each event
 */
export function livelyScript(run: RunScript, pace: number): RunScript {
  const wants = (word: string) => new RegExp(`\\b${word}`, "i").test(run.prompt);
  const subject = run.prompt.replace(/\s+/g, " ").trim().slice(0, 60);
  const pause = pace * (wants("slow") ? 250 : 6);
  run
    .thinking(`I'm asked: “${subject}”. First I look at what is there.`)
    .wait(pause)
    .tool("read_file", { path: "README.md" }, { content: "# your-repo\n", totalLines: 1 })
    .wait(pause)
    .text("I read the README")
    .text(" and run the tests first.\n");
  if (wants("cut")) run.cut();
  run
    .tool("run_terminal_cmd", { command: "npm test" }, { command: "npm test", stdout: "12 passed\n" })
    .wait(pause)
    .tool("grep_search", { pattern: "TODO" }, undefined, { error: { message: "no matches" } })
    .wait(pause);
  if (wants("fail")) return run.text("This doesn't work out.").fail();
  run.tool("edit_file", { path: "README.md" }, { path: "README.md", linesAdded: 42 }).wait(pause);
  const words = `I worked on “${subject}”: the README now says how to begin, and all tests pass.`.match(
    /\s*\S+/g,
  );
  for (const [index, word] of (words ?? []).entries()) {
    if (wants("cut") && index === 6) run.cut();
    run.text(word);
  }
  run.artifact("artifacts/notes.md", `# Notes\n\n${subject}\n`, "text/markdown");
  if (wants("files")) {
    for (const number of [1, 2, 3])
      run.artifact(`artifacts/logs/part-${number}.txt`, "line\n".repeat(200_000));
  }
  run.wait(pause);
  if (run.context.repoUrl === undefined) return run.finish();
  return run.finish({ branch: `cursor/work-${run.context.agentId.slice(-4)}` });
}
