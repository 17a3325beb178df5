import type { Core } from "../core.ts";
import { toWorkerRepo } from "../repository.ts";
import { type AgentMode, type AgentRecord, isTerminal, type RunRecord } from "../store.ts";
import { RunLog } from "./run-log.ts";
import { RunPlayer } from "./run-player.ts";
import type { ScriptStep } from "./run-script.ts";

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

/** Adds a run to an agent, in status CREATING, and plays its script; a self-hosted run waits for its worker first. */
export function startRun(
  core: Core,
  agent: AgentRecord,
  prompt: string,
  mode: AgentMode | undefined,
): RunRecord {
  const { store, options, gates, scripts } = core;
  const now = store.now();
  store.forgetStreams(now - options.retentionSeconds * 1000);
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
  const onEnd = () => {
    const request = core.workers.request(agent.id);
    if (request !== undefined) core.workers.turnEnded(request);
  };
  const gate = isSelfHosted(agent) ? { gate: workerGate(run), onEnd } : {};
  const player = new RunPlayer({ store, options, gates, agent, run, script, ...gate });
  run.player = player;
  void player.play();
  if (isSelfHosted(agent)) awaitWorker(core, agent, run);
  return run;
}

/** Whether this agent runs on a self-hosted worker. */
function isSelfHosted(agent: Pick<AgentRecord, "env">): boolean {
  return agent.env.type !== "cloud";
}

/** The gate at which a self-hosted run waits for its worker. */
function workerGate(run: Pick<RunRecord, "id">): string {
  return `worker of ${run.id}`;
}

/** Lets a run wait for a worker: any worker of the queue, or the one that claimed its agent. */
function awaitWorker({ workers, gates }: Core, agent: AgentRecord, run: RunRecord): void {
  const turn = {
    start: () => gates.release(workerGate(run)),
    end: (status: "ERROR" | "EXPIRED") => {
      if (!isTerminal(run.status)) run.player?.endAs(status);
    },
    isOver: () => isTerminal(run.status),
  };
  const known = workers.request(agent.id);
  if (known !== undefined) {
    workers.followUp(known, turn);
    return;
  }
  const url = agent.repos[0]?.url;
  const repo = url === undefined ? undefined : toWorkerRepo(url);
  const isPersonal = agent.env.type === "machine";
  const labels = repo === undefined ? [] : [{ key: "repo", value: `${repo.owner}/${repo.name}` }];
  if (!isPersonal) labels.push({ key: "pool", value: agent.env.name ?? "default" });
  workers.add({
    ...agent.requester,
    id: agent.id,
    owner: agent.owner,
    isPersonal,
    labels,
    turn,
    ...(repo === undefined ? {} : { repo }),
    ...(isPersonal && agent.env.name !== undefined ? { machineName: agent.env.name } : {}),
  });
}
