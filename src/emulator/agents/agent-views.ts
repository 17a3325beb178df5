import type { ResolvedOptions } from "../emulator-options.ts";
import { withoutScheme } from "../repository.ts";
import {
  type Agent,
  type AgentRecord,
  type AgentSummary,
  type Git,
  isTerminal,
  type Run,
  type RunRecord,
  type RunSummary,
  type Usage,
} from "../store.ts";

const iso = (ms: number) => new Date(ms).toISOString();

/** The agent's branches, or one entry per repository if nothing was pushed; absent before the first run has ended. */
export function gitOf(agent: AgentRecord): Git | undefined {
  if (!agent.gitKnown) return undefined;
  const branches = agent.branches.map((branch) => ({ ...branch }));
  if (branches.length === 0)
    branches.push(...agent.repos.map((repo) => ({ repoUrl: withoutScheme(repo.url) })));
  return branches.length === 0 ? undefined : { branches };
}

function agentStatus(agent: AgentRecord): AgentSummary["status"] {
  if (agent.archived) return "ARCHIVED";
  return agent.runs.some((run) => !isTerminal(run.status)) ? "ACTIVE" : "IDLE";
}

/** An item of List Agents. */
export function toAgentSummary(agent: AgentRecord): AgentSummary {
  const latest = agent.runs.at(-1);
  return {
    id: agent.id,
    name: agent.name,
    status: agentStatus(agent),
    env: agent.env,
    url: `https://cursor.com/agents/${agent.id}`,
    createdAt: iso(agent.createdAt),
    updatedAt: iso(agent.updatedAt),
    ...(latest === undefined ? {} : { latestRunId: latest.id }),
    ...agent.overrides,
  };
}

/** The answer of Get An Agent. It never repeats prompt, model, MCP servers or envVars. */
export function toAgent(agent: AgentRecord, options: ResolvedOptions): Agent {
  const repos = agent.repos.map((repo) =>
    options.schemelessRepoUrls ? { ...repo, url: withoutScheme(repo.url) } : { ...repo },
  );
  return {
    ...toAgentSummary(agent),
    repos,
    workOnCurrentBranch: agent.workOnCurrentBranch,
    autoCreatePR: agent.autoCreatePR,
    skipReviewerRequest: agent.skipReviewerRequest,
    ...(agent.customSubagents === undefined ? {} : { customSubagents: agent.customSubagents }),
    ...(agent.openAsCursorGithubApp === undefined
      ? {}
      : { openAsCursorGithubApp: agent.openAsCursorGithubApp }),
    ...(agent.metadata === undefined ? {} : { metadata: agent.metadata }),
    ...agent.overrides,
  } as Agent;
}

/** An item of List Runs: a run without its `result`. */
export function toRunSummary(agent: AgentRecord, run: RunRecord): RunSummary {
  const git = gitOf(agent);
  const { result: _result, ...overrides } = run.overrides;
  return {
    id: run.id,
    agentId: agent.id,
    status: run.status,
    createdAt: iso(run.createdAt),
    updatedAt: iso(run.updatedAt),
    ...(run.durationMs === undefined ? {} : { durationMs: run.durationMs }),
    ...(git === undefined ? {} : { git }),
    ...overrides,
  };
}

/** The answer of Get A Run. */
export function toRun(agent: AgentRecord, run: RunRecord): Run {
  const hasResult = run.result !== undefined && run.result !== "";
  return {
    ...toRunSummary(agent, run),
    ...(hasResult ? { result: run.result as string } : {}),
    ...run.overrides,
  };
}

/** The data of a `result` frame. */
export function toResultData(agent: AgentRecord, run: RunRecord): Record<string, unknown> {
  const git = gitOf(agent);
  return {
    runId: run.id,
    status: run.status,
    ...(run.result === undefined || run.result === "" ? {} : { text: run.result }),
    ...(run.durationMs === undefined ? {} : { durationMs: run.durationMs }),
    ...(git === undefined ? {} : { git }),
  };
}

/** Token counts with zero for the missing ones, and their total. */
export function completeUsage(usage: Partial<Usage> = {}): Usage {
  const { inputTokens = 0, outputTokens = 0, cacheWriteTokens = 0, cacheReadTokens = 0 } = usage;
  const totalTokens = inputTokens + outputTokens + cacheWriteTokens + cacheReadTokens;
  return { inputTokens, outputTokens, cacheWriteTokens, cacheReadTokens, totalTokens };
}
