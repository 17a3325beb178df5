import type { Command } from "commander";
import type { Context } from "../context.ts";
import { type Check, diagnose } from "../diagnose.ts";
import { examples } from "../examples.ts";
import { exitCodes } from "../exit-codes.ts";
import { faint, green, red, yellow } from "../terminal.ts";

export function addDoctorCommand(program: Command, context: Context): void {
  const command = program
    .command("doctor")
    .description(
      "Check what runs need: Node, base URL, key, plan, clock, models, repositories. Starts nothing.",
    )
    .option("--model <id>", "is this model there?")
    .option("--repo <url>", "can Cursor see this repository?")
    .action((flags: { model?: string; repo?: string }) => examine(context, flags));
  examples(command, ["cursor-agents doctor --repo your-org/your-repo --model composer-2"]);
  command.addHelpText(
    "after",
    "\nEach line is ok, warn or fail. Exit code: 0 without a fail, 4 for the key or the plan, else 1.",
  );
}

const marks = { ok: green("ok  "), warn: yellow("warn"), fail: red("fail") };

async function examine(context: Context, flags: { model?: string; repo?: string }): Promise<void> {
  const failed: Check[] = [];
  for await (const check of diagnose(context, flags)) {
    if (check.state === "fail") failed.push(check);
    const { name, state, detail, advice } = check;
    context.answer(
      { type: "check", name, state, detail, ...(advice === undefined ? {} : { advice }) },
      (terminal) => {
        terminal.line(marks[state], `  ${name.padEnd(12)} ${detail}`);
        if (advice !== undefined) terminal.line(faint(`      ${"".padEnd(12)} ${advice}`));
      },
    );
  }
  const isAccount = failed.some(({ isAccount = false }) => isAccount);
  const exitCode = isAccount ? exitCodes.account : failed.length > 0 ? exitCodes.failed : exitCodes.finished;
  if (context.globals.json) context.json({ type: "diagnosis", ok: failed.length === 0, exitCode });
  context.exitCode = exitCode;
}
