import type { Command } from "commander";
import type { SaveProgress } from "../../node/index.ts";
import { saveArtifacts } from "../../node/index.ts";
import type { Context } from "../context.ts";
import { examples } from "../examples.ts";
import { exitCodes } from "../exit-codes.ts";
import { age, plural, size } from "../format.ts";
import type { JsonLine } from "../json-lines.ts";
import { faint, red, yellow } from "../terminal.ts";
import { toAgentId, toWholeNumber } from "../values.ts";

export function addArtifactCommands(program: Command, context: Context): void {
  const artifacts = program.command("artifacts").description("List or fetch the files an agent left.");
  examples(artifacts, ["cursor-agents artifacts pull bc-00000000-0000-0000-0000-000000000001 out"]);

  const list = artifacts
    .command("ls")
    .description("List the files an agent left.")
    .argument("<agent>", "the agent's id, or the address of its page", toAgentId)
    .action((agentId: string) => listArtifacts(context, agentId));
  examples(list, ["cursor-agents artifacts ls bc-00000000-0000-0000-0000-000000000001"]);

  const pull = artifacts
    .command("pull")
    .description("Save the files an agent left; unchanged ones are skipped, unsafe names refused.")
    .argument("<agent>", "the agent's id, or the address of its page", toAgentId)
    .argument("[folder]", "where to; made if need be", "artifacts")
    .option("--concurrency <n>", "files at the same time", toWholeNumber(1, 16), 4)
    .action((agentId: string, folder: string, flags: { concurrency: number }) =>
      pullArtifacts(context, agentId, folder, flags.concurrency),
    );
  examples(pull, ["cursor-agents artifacts pull bc-00000000-0000-0000-0000-000000000001 out"]);
}

async function listArtifacts(context: Context, agentId: string): Promise<void> {
  const cursor = await context.cursor();
  const { items } = await cursor.artifacts.list(agentId, { signal: context.signal });
  if (context.globals.json) {
    for (const artifact of items) context.json({ type: "artifact", artifact });
    return;
  }
  if (items.length === 0) {
    context.terminal.note("no artifacts; right after a run they may still be on their way");
    return;
  }
  const now = context.io.clock.now();
  context.terminal.table(
    ["size", "updated", "path"],
    items.map(({ path, sizeBytes, updatedAt }) => [size(sizeBytes), age(updatedAt, now), path]),
  );
}

async function pullArtifacts(
  context: Context,
  agentId: string,
  folder: string,
  concurrency: number,
): Promise<void> {
  const cursor = await context.cursor();
  const onProgress = (progress: SaveProgress) => tell(context, progress);
  const options = { signal: context.signal, concurrency, onProgress };
  const { saved, skipped, refused, failed } = await saveArtifacts(cursor, agentId, folder, options);
  if (context.globals.json) {
    const lines: JsonLine[] = [
      ...saved.map(
        ({ path, file, sizeBytes }) => ({ type: "file", state: "saved", path, file, sizeBytes }) as const,
      ),
      ...skipped.map(
        ({ path, file, sizeBytes }) => ({ type: "file", state: "skipped", path, file, sizeBytes }) as const,
      ),
      ...refused.map(
        ({ path, reason, message }) => ({ type: "file", state: "refused", path, reason, message }) as const,
      ),
      ...failed.map(
        ({ path, reason, error }) =>
          ({
            type: "file",
            state: "failed",
            path,
            reason,
            message: context.redact(messageOf(error)),
          }) as const,
      ),
    ];
    for (const line of lines) context.json(line);
    context.json({
      type: "files",
      saved: saved.length,
      skipped: skipped.length,
      refused: refused.length,
      failed: failed.length,
      folder,
    });
  } else {
    for (const { path, message } of refused)
      context.terminal.alert(yellow(`refused ${path}`), `: ${message}`);
    for (const { path, error } of failed) {
      context.terminal.alert(red(`failed ${path}`), `: ${context.redact(messageOf(error))}`);
    }
    const parts = [`${plural(saved.length, "file")} saved in ${folder}`];
    if (skipped.length > 0) parts.push(`${skipped.length} unchanged`);
    if (refused.length > 0) parts.push(`${refused.length} refused`);
    if (failed.length > 0) parts.push(`${failed.length} failed`);
    context.terminal.line(parts.join(", "));
  }
  if (refused.length + failed.length > 0) context.exitCode = exitCodes.failed;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** On a terminal a bar of the file that moved last; elsewhere a line for each file at its end. */
function tell({ terminal }: Context, { path, state, loaded, total, files }: SaveProgress): void {
  const name = path.replace(/^artifacts\//, "");
  if (state === "saving") {
    const share = total ? loaded / total : 0;
    const bytes = total === undefined ? size(loaded) : `${size(loaded)} of ${size(total)}`;
    terminal.progress(name, share, `${bytes}  (${files.done + 1}/${files.total})`);
  } else if (state === "saved" || state === "skipped") {
    terminal.note(
      state === "saved" ? "saved    " : faint("unchanged"),
      ` ${name}`,
      faint(`  ${size(loaded)}`),
    );
  }
}
