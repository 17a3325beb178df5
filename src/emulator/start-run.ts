import type { Core } from "./core-context.ts";
import { awaitWorker, isSelfHosted, workerGate } from "./fleet/await-worker.ts";
import { RunLog } from "./run-log.ts";
import { RunPlayer } from "./run-player.ts";
import type { ScriptStep } from "./run-script.ts";
import type { AgentRecord, RunRecord } from "./store.ts";
import type { AgentMode } from "./types.ts";

function recordedRunId(steps: readonly ScriptStep[]): string | undefined {
  for (const step of steps) {
    const id =
      step.kind === "recorded"
        ? /"runId":"([^"]+)"/.exec(new TextDecoder().decode(step.frame.bytes))?.[1]
        : undefined;
    if (id !== undefined) return id;
  }
  return undefined;
}

/** Puts a new run on an agent and lets it play, once it has a worker if it needs one. The state it is in right after is CREATING. @internal */
export function startRun(
  core: Core,
  agent: AgentRecord,
  prompt: string,
  mode: AgentMode | undefined,
): RunRecord {
  const { store, options, gates, scripts } = core;
  const now = store.now();
  if (mode !== undefined) agent.mode = mode;
  const runId = `run-${store.ids.uuid()}`;
  const repoUrl = agent.repos[0]?.url;
  const script = scripts.write({
    prompt,
    agentId: agent.id,
    runId,
    autoCreatePR: agent.autoCreatePR,
    mode: agent.mode,
    ...(repoUrl === undefined ? {} : { repoUrl }),
  });
  const steps = script.complete();
  const first = steps[0];
  const playedId = recordedRunId(steps);
  const run: RunRecord = {
    id: runId,
    agentId: agent.id,
    prompt,
    mode: agent.mode,
    status: "CREATING",
    createdAt: now,
    updatedAt: now,
    log: new RunLog(),
    preludes: [...script.preludes],
    leadRecorded:
      first?.kind === "recorded" && first.frame.status !== undefined && first.frame.id === undefined,
    streamExpired: false,
    overrides: {},
    ...(playedId === undefined ? {} : { recordedRunId: playedId }),
  };
  agent.runs.push(run);
  agent.updatedAt = now;
  const gate = isSelfHosted(agent) ? { gate: workerGate(run) } : {};
  run.player = new RunPlayer({ store, options, gates, agent, run, script, ...gate });
  void run.player.play();
  if (isSelfHosted(agent)) awaitWorker(core, agent, run);
  return run;
}
