import type { Core } from "../core-context.ts";
import { type AgentRecord, isTerminal, type RunRecord } from "../store.ts";
import { toFleetRepo } from "./fleet-records.ts";

/** Does this agent run on workers of one's own? @internal */
export function isSelfHosted(agent: Pick<AgentRecord, "env">): boolean {
  return agent.env.type !== "cloud";
}

/** The gate that a self-hosted run waits at until it has its worker. @internal */
export function workerGate(run: Pick<RunRecord, "id">): string {
  return `worker of ${run.id}`;
}

/** Lets a run wait for a worker: in the queue, or for the one that its agent's claim names. @internal */
export function awaitWorker({ fleet, gates }: Core, agent: AgentRecord, run: RunRecord): void {
  const turn = {
    start: () => gates.release(workerGate(run)),
    end: (status: "ERROR" | "EXPIRED") => {
      if (!isTerminal(run.status)) run.player?.endAs(status);
    },
    isOver: () => isTerminal(run.status),
  };
  const known = fleet.request(agent.id);
  if (known !== undefined) {
    fleet.followUp(known, turn);
    return;
  }
  const url = agent.repos[0]?.url;
  const repo = url === undefined ? undefined : toFleetRepo(url);
  const isPersonal = agent.env.type === "machine";
  const labels = repo === undefined ? [] : [{ key: "repo", value: `${repo.owner}/${repo.name}` }];
  if (!isPersonal) labels.push({ key: "pool", value: agent.env.name ?? "default" });
  fleet.add({
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
