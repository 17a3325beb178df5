import type { Command } from "commander";
import type { Model, Usage } from "../../index.ts";
import { addAgentArgument, addCommand, addRunArgument, exampleAgent } from "../add-command.ts";
import type { Context } from "../context.ts";
import { formatCount } from "../format.ts";
import { faint } from "../terminal.ts";

/** Adds the commands that look up what an account has: `usage`, `models`, `repos`, `me`. */
export function addAccountCommands(program: Command, context: Context): void {
  const usage = addCommand(
    program,
    "usage",
    "Show the tokens an agent has used, run by run.",
    `usage ${exampleAgent}`,
  );
  addRunArgument(addAgentArgument(usage), "only this run").action(
    (agentId: string, runId: string | undefined) => showUsage(context, agentId, runId),
  );
  addCommand(program, "models", "List the available models with their parameters.", "models").action(() =>
    listModels(context),
  );
  addCommand(
    program,
    "repos",
    "List the repositories Cursor can access (the API allows this once a minute).",
    "repos | grep your-org",
  ).action(() => listRepositories(context));
  addCommand(program, "me", "Show whose key this is.", "me").action(() => showKey(context));
}

async function showUsage(context: Context, agentId: string, runId: string | undefined): Promise<void> {
  const cursor = await context.cursor();
  const usage = await cursor.usage.get(agentId, { runId }, { signal: context.signal });
  context.answer({ type: "usage", usage }, (terminal) => {
    const rows = usage.runs.map((run) => [run.id, ...counts(run.usage)]);
    if (rows.length !== 1) rows.push(["all", ...counts(usage.totalUsage)]);
    terminal.table(["run", "input", "output", "cache write", "cache read", "total"], rows);
  });
}

const counts = ({
  inputTokens,
  outputTokens,
  cacheWriteTokens,
  cacheReadTokens,
  totalTokens,
}: Usage): string[] =>
  [inputTokens, outputTokens, cacheWriteTokens, cacheReadTokens, totalTokens].map(formatCount);

async function listModels(context: Context): Promise<void> {
  const cursor = await context.cursor();
  const { items } = await cursor.models.list({ signal: context.signal });
  if (context.globals.json) {
    for (const model of items) context.terminal.json({ type: "model", model });
    return;
  }
  context.terminal.table(
    ["model", "name", "parameters"],
    items.map((model) => [model.id, model.displayName, parametersOf(model)]),
  );
}

const parametersOf = ({ parameters = [] }: Model): string =>
  parameters.map(({ id, values }) => `${id}=${values.map(({ value }) => value).join("|")}`).join(" ");

async function listRepositories(context: Context): Promise<void> {
  const cursor = await context.cursor();
  context.terminal.note(faint("listing the repositories; that may take a minute"));
  for await (const repository of cursor.repositories.list({}, { signal: context.signal })) {
    context.answer({ type: "repository", repository }, (terminal) => terminal.line(repository.url));
  }
}

async function showKey(context: Context): Promise<void> {
  const cursor = await context.cursor();
  const me = await cursor.me({ signal: context.signal });
  context.answer({ type: "me", me }, (terminal) => {
    const { apiKeyName, userEmail, userFirstName, userLastName } = me;
    const person = [userFirstName, userLastName].filter(Boolean).join(" ");
    const owner = userEmail ? [person, `<${userEmail}>`].filter(Boolean).join(" ") : "a service account";
    terminal.line(apiKeyName, faint(`  ${owner}, since ${me.createdAt.slice(0, 10)}`));
  });
}
