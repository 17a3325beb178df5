import type { Command } from "commander";
import { type SaveProgress, saveArtifacts } from "../../node/index.ts";
import { addAgentArgument, addCommand, exampleAgent, toWholeNumber } from "../add-command.ts";
import { exitCodes } from "../command-failure.ts";
import type { Context } from "../context.ts";
import { formatAge, formatBytes, formatPlural } from "../format.ts";
import { faint, red, yellow } from "../terminal.ts";

export function addArtifactCommands(program: Command, context: Context): void {
  const pullExample = `artifacts pull ${exampleAgent} out`;
  const artifacts = addCommand(
    program,
    "artifacts",
    "List or save the files that an agent left.",
    pullExample,
  );

  const list = addCommand(
    artifacts,
    "ls",
    "List the files that an agent left.",
    `artifacts ls ${exampleAgent}`,
  );
  addAgentArgument(list).action((agentId: string) => listArtifacts(context, agentId));

  const pull = addCommand(
    artifacts,
    "pull",
    "Save the files that an agent left; unchanged files are skipped, unsafe names rejected.",
    pullExample,
  );
  addAgentArgument(pull)
    .argument("[folder]", "where to save them; created if it doesn't exist", "artifacts")
    .option("--concurrency <n>", "files at the same time", toWholeNumber(1, 16), 4)
    .action((agentId: string, folder: string, flags: { concurrency: number }) =>
      pullArtifacts(context, agentId, folder, flags.concurrency),
    );
}

async function listArtifacts(context: Context, agentId: string): Promise<void> {
  const cursor = await context.cursor();
  const { items } = await cursor.artifacts.list(agentId, { signal: context.signal });
  if (context.globals.json) {
    for (const artifact of items) context.terminal.json({ type: "artifact", artifact });
    return;
  }
  if (items.length === 0) {
    context.terminal.note("no artifacts; right after a run they may not be uploaded yet");
    return;
  }
  const now = context.io.clock.now();
  context.terminal.table(
    ["size", "updated", "path"],
    items.map(({ path, sizeBytes, updatedAt }) => [formatBytes(sizeBytes), formatAge(updatedAt, now), path]),
  );
}

async function pullArtifacts(
  context: Context,
  agentId: string,
  folder: string,
  concurrency: number,
): Promise<void> {
  const cursor = await context.cursor();
  const onProgress = (progress: SaveProgress) => printProgress(context, progress);
  const options = { signal: context.signal, concurrency, onProgress };
  const { saved, skipped, rejected, failed } = await saveArtifacts(cursor, agentId, folder, options);
  const { terminal } = context;
  if (context.globals.json) {
    for (const [state, files] of [
      ["saved", saved],
      ["skipped", skipped],
    ] as const) {
      for (const { path, file, sizeBytes } of files) {
        terminal.json({ type: "file", state, path, file, sizeBytes });
      }
    }
    for (const { path, reason, message } of rejected) {
      terminal.json({ type: "file", state: "rejected", path, reason, message });
    }
    for (const { path, reason, error } of failed) {
      const message = context.redact(messageOf(error));
      terminal.json({ type: "file", state: "failed", path, reason, message });
    }
    terminal.json({
      type: "files",
      saved: saved.length,
      skipped: skipped.length,
      rejected: rejected.length,
      failed: failed.length,
      folder,
    });
  } else {
    for (const { path, message } of rejected) terminal.alert(yellow(`rejected ${path}`), `: ${message}`);
    for (const { path, error } of failed) {
      terminal.alert(red(`failed ${path}`), `: ${context.redact(messageOf(error))}`);
    }
    const parts = [`${formatPlural(saved.length, "file")} saved in ${folder}`];
    if (skipped.length > 0) parts.push(`${skipped.length} unchanged`);
    if (rejected.length > 0) parts.push(`${rejected.length} rejected`);
    if (failed.length > 0) parts.push(`${failed.length} failed`);
    terminal.line(parts.join(", "));
  }
  if (rejected.length + failed.length > 0) context.exitCode = exitCodes.failed;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** On a terminal, a bar for the file that progressed last; in both cases a line for each file at its end. */
function printProgress({ terminal }: Context, { path, state, loaded, total, files }: SaveProgress): void {
  const name = path.replace(/^artifacts\//, "");
  if (state === "saving") {
    const share = total ? loaded / total : 0;
    const bytes =
      total === undefined ? formatBytes(loaded) : `${formatBytes(loaded)} of ${formatBytes(total)}`;
    terminal.progress(name, share, `${bytes}  (${files.done + 1}/${files.total})`);
  } else if (state === "saved" || state === "skipped") {
    terminal.note(
      state === "saved" ? "saved    " : faint("unchanged"),
      ` ${name}`,
      faint(`  ${formatBytes(loaded)}`),
    );
  }
}
