// Uses every method once: what the compiler has to do for it is a figure. Only compiled, never run.
import type { Cursor, CursorError, RunEvent } from "cursor-cloud-agents";
import { watchRequests } from "cursor-cloud-agents/workers";

export async function everyMethod(cursor: Cursor): Promise<unknown[]> {
  const { agents, runs, artifacts, workers, environments, secrets } = cursor;
  const { agent, run } = await agents.create({ prompt: "Add a README" }, { onConflict: "adopt" });
  const { data, requestId } = await agents.get(agent.id).withResponse();
  const all: unknown[] = [data.status, requestId, await cursor.me(), await cursor.prompt("Explain it")];
  for await (const { id } of agents.list({ limit: 10 })) all.push(id);
  all.push(await agents.archive(agent.id), await agents.unarchive(agent.id), await agents.delete(agent.id));
  all.push(await runs.create(agent.id, { prompt: "And tests" }, { whenBusy: "wait" }));
  all.push(await runs.list(agent.id), await runs.get(run), await runs.cancel(run), await runs.wait(run));
  const stream = runs.stream(run, { include: "all", onReconnect: ({ attempt }) => all.push(attempt) });
  for await (const event of stream) all.push(textOf(event), stream.checkpoint());
  for await (const text of runs.stream(run).text()) all.push(text);
  all.push(await stream.result(), stream.toReadableStream());
  all.push(await artifacts.list(agent.id), await artifacts.url(agent.id, "artifacts/a.png"));
  await using download = await artifacts.download(agent.id, "artifacts/a.png");
  all.push(await download.bytes(), await cursor.usage.get(agent.id, { runId: run.id }));
  all.push(await cursor.models.list(), await cursor.repositories.list({ fresh: true }));
  all.push(await cursor.workerTokens.create({ forUserEmail: "a@example.com" }));
  all.push(await workers.summary(), await workers.list(), await workers.get("worker"));
  all.push(await workers.pools.list(), await workers.requests.list(), await workers.claims.release("claim"));
  const queue = watchRequests(cursor);
  for await (const change of queue) all.push(change.type, queue.current().size);
  all.push(await environments.list(), await environments.get("env"), await environments.delete("env"));
  all.push(await environments.builds.list("env"), await environments.builds.get("env", "build"));
  all.push(await environments.history("env"), await environments.builds.active("env"));
  all.push(await secrets.list());
  return all;
}

function textOf(event: RunEvent): string | undefined {
  if (event.type === "assistant" || event.type === "thinking") return event.data.text;
  return event.type === "tool_call" ? `${event.data.name} ${event.data.status}` : undefined;
}

export const codeOf = (error: CursorError): string | undefined =>
  "code" in error ? String(error.code) : undefined;
