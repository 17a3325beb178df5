import type { Command } from "commander";
import type { Model } from "../../index.ts";
import type { Context } from "../context.ts";
import { examples } from "../examples.ts";
import { faint } from "../terminal.ts";

export function addLookupCommands(program: Command, context: Context): void {
  const models = program
    .command("models")
    .description("List the models to choose from, with their parameters.")
    .action(() => listModels(context));
  examples(models, ["cursor-agents models"]);

  const repos = program
    .command("repos")
    .description("List the repositories Cursor can reach (the API answers once a minute).")
    .action(() => listRepositories(context));
  examples(repos, ["cursor-agents repos | grep your-org"]);

  const me = program
    .command("me")
    .description("Show whose key this is.")
    .action(() => showKey(context));
  examples(me, ["cursor-agents me"]);
}

async function listModels(context: Context): Promise<void> {
  const cursor = await context.cursor();
  const { items } = await cursor.models.list({ signal: context.signal });
  if (context.globals.json) {
    for (const model of items) context.json({ type: "model", model });
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
  context.terminal.note(faint("asking for the repositories; that may take a minute"));
  for await (const repository of cursor.repositories.list({}, { signal: context.signal })) {
    context.answer({ type: "repository", repository }, (terminal) => terminal.line(repository.url));
  }
}

async function showKey(context: Context): Promise<void> {
  const me = await (await context.cursor()).me({ signal: context.signal });
  context.answer({ type: "me", me }, (terminal) => {
    const { apiKeyName, userEmail, userFirstName, userLastName } = me;
    const person = [userFirstName, userLastName].filter(Boolean).join(" ");
    const owner = userEmail ? [person, `<${userEmail}>`].filter(Boolean).join(" ") : "a service account";
    terminal.line(apiKeyName, faint(`  ${owner}, since ${me.createdAt.slice(0, 10)}`));
  });
}
