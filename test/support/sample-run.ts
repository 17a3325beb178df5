import type { RunRef } from "cursor-cloud-agents";

// The account, agent and run that the fakes answer with.

export const key = "key_TEST";
export const agentId = "bc-00000000-0000-0000-0000-00000000000a";
export const runId = "run-00000000-0000-0000-0000-000000000001";
export const ref: RunRef = { agentId, id: runId };

const times = { createdAt: "2026-01-01T00:00:00.000Z", updatedAt: "2026-01-01T00:00:00.000Z" };

/** The agent as Get An Agent answers it. */
export const agent = {
  id: agentId,
  name: "Test",
  status: "ACTIVE",
  url: `https://cursor.com/agents/${agentId}`,
  ...times,
  latestRunId: runId,
};

/** The run as Get A Run answers it. */
export const runOf = (status: string, more: object = {}) => ({
  id: runId,
  agentId,
  status,
  ...times,
  ...more,
});

export const run = runOf("RUNNING");
