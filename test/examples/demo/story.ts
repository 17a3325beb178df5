import { type Agent, type Cursor, isApiError, type Run, type RunResult } from "cursor-cloud-agents";
import { saveArtifact } from "cursor-cloud-agents/node";
import { duration, size, type Terminal } from "./terminal.ts";

/** What to tell, and with what. */
export interface Plan {
  cursor: Cursor;
  terminal: Terminal;
  /** Makes the folder where the artifact lands. */
  makeFolder(): Promise<string>;
  prompts: { first: string; followUp: string; last: string };
  repository: string | undefined;
  signal?: AbortSignal;
}

/** What the story came to. */
export interface Ending {
  agent: Agent;
  result: RunResult;
  reconnects: number;
  events: number;
  /** Where the artifact was saved, if there was one. */
  file?: string;
}

/** The life of an agent, told as it happens. Everything here works the same on the real API. */
export async function tell({
  cursor,
  terminal,
  makeFolder,
  prompts,
  repository,
  signal,
}: Plan): Promise<Ending> {
  const counts = { reconnects: 0, events: 0 };

  const me = await cursor.me({ signal });
  terminal.line(`Key: ${me.apiKeyName}${me.userEmail ? ` (${me.userEmail})` : ""}`);

  terminal.heading("Create an agent");
  const { agent, run } = await cursor.agents.create(
    {
      prompt: prompts.first,
      ...(repository === undefined ? {} : { repos: [{ url: repository }], autoCreatePR: true }),
    },
    { signal },
  );
  terminal.line(`  ${agent.id}  ${agent.name ?? ""}`);
  terminal.line(`  ${terminal.faint(agent.url)}`);

  terminal.heading("Stream its run");
  terminal.line(`  “${prompts.first}”`);
  const result = await watch(run);

  terminal.heading("Follow up");
  terminal.line(`  “${prompts.followUp}”`);
  const followUp = await cursor.runs.create(
    agent.id,
    { prompt: prompts.followUp },
    { whenBusy: "wait", signal },
  );
  await watch(followUp);
  terminal.line(`  “${prompts.last}”`);
  const last = await cursor.runs.create(agent.id, { prompt: prompts.last }, { whenBusy: "wait", signal });
  await watch(last);

  terminal.heading("List the runs, page by page");
  let number = 0;
  for await (const page of cursor.runs.list(agent.id, { limit: 2 }, { signal }).pages()) {
    terminal.line(`  page ${++number}`);
    for (const item of page.items)
      terminal.line(`    ${item.id}  ${item.status}  ${duration(item.durationMs)}`);
  }

  terminal.heading("Usage");
  await showUsage();

  terminal.heading("Artifacts");
  const file = await saveFirstArtifact();
  return { agent, result, ...counts, ...(file === undefined ? {} : { file }) };

  async function watch(watched: Run): Promise<RunResult> {
    const stream = cursor.runs.stream(watched, {
      signal,
      onReconnect: ({ lastEventId }) => {
        counts.reconnects++;
        terminal.note(terminal.faint(`  ~ connection lost; going on after event ${lastEventId ?? "(none)"}`));
      },
    });
    const named = new Set<string>();
    let isThinking = false;
    for await (const event of stream) {
      counts.events++;
      if (event.type === "thinking") {
        terminal.text(terminal.faint(isThinking ? event.data.text : `  ${event.data.text}`));
        isThinking = true;
        continue;
      }
      if (isThinking) terminal.endText();
      isThinking = false;
      if (event.type === "assistant") terminal.text(event.data.text);
      if (event.type === "status") terminal.note(terminal.faint(`  status ${event.data.status}`));
      if (event.type === "tool_call" && event.data.status === "completed" && !named.has(event.data.callId)) {
        named.add(event.data.callId);
        terminal.line(`  > ${event.data.name} ${terminal.faint(subject(event.data.args))}`);
      }
    }
    const outcome = await stream.result();
    terminal.line(`  = ${outcome.status} in ${duration(outcome.durationMs)}`);
    for (const { branch, prUrl } of outcome.git?.branches ?? []) {
      if (branch ?? prUrl) terminal.line(`    ${[branch, prUrl].filter(Boolean).join("  ")}`);
    }
    return outcome;
  }

  async function showUsage(): Promise<void> {
    try {
      const { runs, totalUsage } = await cursor.usage.get(agent.id, {}, { signal });
      const row = (name: string, usage: typeof totalUsage) => [
        name,
        ...[
          usage.inputTokens,
          usage.outputTokens,
          usage.cacheWriteTokens,
          usage.cacheReadTokens,
          usage.totalTokens,
        ].map((count) => count.toLocaleString("en-US")),
      ];
      terminal.table([
        ["run", "input", "output", "cache write", "cache read", "total"],
        ...runs.map(({ id, usage }) => row(`…${id.slice(-8)}`, usage)),
        row("all", totalUsage),
      ]);
    } catch (error) {
      if (!isApiError(error, "feature_unavailable")) throw error;
      terminal.line("  not enabled for this account");
    }
  }

  async function saveFirstArtifact(): Promise<string | undefined> {
    const { items } = await cursor.artifacts.list(agent.id, { signal });
    for (const { path, sizeBytes } of items) terminal.line(`  ${path}  ${size(sizeBytes)}`);
    const [artifact] = items;
    if (!artifact) {
      terminal.line("  none");
      return undefined;
    }
    const { file, sizeBytes } = await saveArtifact(cursor, agent.id, artifact.path, {
      to: `${await makeFolder()}/`,
      signal,
      onProgress: ({ loaded, total }) => terminal.progress("downloading", loaded, total),
    });
    terminal.line(`  saved ${file} (${size(sizeBytes)})`);
    return file;
  }
}

/** What a tool call is about: its path, its command, or nothing. */
function subject(args: unknown): string {
  const { path, command } = (args ?? {}) as { path?: unknown; command?: unknown };
  return typeof path === "string" ? path : typeof command === "string" ? command : "";
}
