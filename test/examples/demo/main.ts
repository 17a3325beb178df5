/**
 * The life of an agent in the terminal: `npm run demo` plays it on the embedded emulator, without a key or a network.
 * `npm run demo -- --live [--repo URL] [--delete] [--yes]` plays it on the real API, with CURSOR_API_KEY.
 */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { parseArgs } from "node:util";
import { Cursor, isCursorError } from "cursor-cloud-agents";
import { reply, setStage } from "./stage.ts";
import { type Ending, tell } from "./story.ts";
import { createTerminal, duration } from "./terminal.ts";

const prompts = {
  first: "Add a README with setup instructions",
  followUp: "Also add troubleshooting steps",
  last: "Say in one sentence what you did",
};
const terminal = createTerminal(process.stdout, process.env);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      live: { type: "boolean", default: false },
      repo: { type: "string" },
      delete: { type: "boolean", default: false },
      yes: { type: "boolean", default: false },
    },
  });
  const folder = await mkdtemp(join(tmpdir(), "cursor-cloud-agents-demo-"));
  if (values.live) await playLive(folder, values);
  else await playOnEmulator(folder);
}

async function playOnEmulator(folder: string): Promise<void> {
  const began = Date.now();
  const { emulator, server } = await setStage();
  terminal.line(
    `On the embedded emulator at ${server.url}: no key, no network, and a connection that breaks.`,
  );
  try {
    const cursor = new Cursor({ apiKey: "demo-key-of-the-emulator", baseUrl: server.url });
    const repository = "https://github.com/your-org/your-repo";
    const ending = await tell({ cursor, terminal, folder, prompts, repository });
    const isWhole = ending.result.streamedText === reply;
    const downloads =
      emulator.requests.filter(({ operationId }) => operationId === "getArtifactBytes").length - 1;
    terminal.heading("In short");
    terminal.line(
      `  ${emulator.requests.length} requests, ${ending.events} events, ${duration(Date.now() - began)}`,
    );
    terminal.line(
      `  ${ending.reconnects} connections lost and resumed, ${downloads} download taken up again`,
    );
    terminal.line(
      `  the reply arrived ${isWhole ? "once and whole: no word lost, no word twice" : "DAMAGED"}`,
    );
    if (!isWhole || ending.reconnects < 2 || downloads < 1) process.exitCode = 1;
  } finally {
    await server.close();
  }
}

async function playLive(
  folder: string,
  options: { repo?: string; delete?: boolean; yes?: boolean },
): Promise<void> {
  const cursor = new Cursor();
  terminal.line("On the real API: this starts an agent and three runs, which your account pays for.");
  if (!options.yes && !(await agrees("Go on?"))) {
    terminal.line("Nothing was sent.");
    return;
  }
  const ending = await tell({ cursor, terminal, folder, prompts, repository: options.repo });
  summary(ending);
  if (options.delete) {
    await cursor.agents.delete(ending.agent.id);
    terminal.line(`  deleted ${ending.agent.id}`);
  } else {
    terminal.line(`  kept: ${ending.agent.url} (--delete removes it)`);
  }
}

function summary({ events, reconnects }: Ending): void {
  terminal.heading("In short");
  terminal.line(`  ${events} events, ${reconnects} connections lost and resumed`);
}

async function agrees(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const questions = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await questions.question(`${question} [y/N] `);
  questions.close();
  return /^y(es)?$/i.test(answer.trim());
}

main().catch((error: unknown) => {
  terminal.line();
  terminal.line(
    isCursorError(error) ? `${error.name}: ${error.message}` : String((error as Error)?.stack ?? error),
  );
  process.exitCode = 1;
});
