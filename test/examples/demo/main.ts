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
  const options = readArguments();
  if (options === undefined) return;
  if (options.live) await playLive(options);
  else await playOnEmulator();
}

const makeFolder = () => mkdtemp(join(tmpdir(), "cursor-cloud-agents-demo-"));

const usage = `npm run demo                          on the embedded emulator: no key, no network
npm run demo -- --live [options]      on the real API, with CURSOR_API_KEY; asks before it spends
  --repo URL   give the agent a repository
  --delete     delete the agent at the end
  --yes        don't ask`;

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        live: { type: "boolean", default: false },
        repo: { type: "string" },
        delete: { type: "boolean", default: false },
        yes: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    if (!values.help) return values;
    terminal.line(usage);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}\n`);
    process.exitCode = 2;
  }
  return undefined;
}

async function playOnEmulator(): Promise<void> {
  const began = Date.now();
  const { emulator, server } = await setStage();
  terminal.line(
    `On the embedded emulator at ${server.url}: no key, no network, and a connection that breaks.`,
  );
  try {
    const cursor = new Cursor({ apiKey: "demo-key-of-the-emulator", baseUrl: server.url });
    const repository = "https://github.com/your-org/your-repo";
    const ending = await tell({ cursor, terminal, makeFolder, prompts, repository });
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

async function playLive(options: { repo?: string; delete?: boolean; yes?: boolean }): Promise<void> {
  const cursor = new Cursor();
  terminal.line("On the real API: this starts an agent and three runs, which your account pays for.");
  if (!options.yes && !(await agrees("Go on?"))) {
    terminal.line("Nothing was sent.");
    return;
  }
  const ending = await tell({ cursor, terminal, makeFolder, prompts, repository: options.repo });
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
  // Ctrl-C and Ctrl-D are a no.
  const answer = await questions.question(`${question} [y/N] `).catch(() => "");
  questions.close();
  return /^y(es)?$/i.test(answer.trim());
}

// Whoever reads us has had enough, as `head` does.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? 0 : 1);
});

main().catch((error: unknown) => {
  const text = isCursorError(error)
    ? `${error.name}: ${error.message}`
    : String((error as Error)?.stack ?? error);
  process.stderr.write(`\n${text}\n`);
  process.exitCode = 1;
});
