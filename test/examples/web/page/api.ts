// What the page asks of its own server. It never speaks to Cursor, and never sees the key.

import type { Artifact, Model } from "cursor-cloud-agents";
import type { Conversation } from "../sessions.ts";

export interface NewAgent {
  prompt: string;
  repository?: string;
  model?: string;
}

/** A refusal, in words that can be shown. */
export class RefusalError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const agentPath = (agentId: string) => `/api/agents/${encodeURIComponent(agentId)}`;
const runPath = (agentId: string, runId: string) => `${agentPath(agentId)}/runs/${encodeURIComponent(runId)}`;

export const streamUrl = (agentId: string, runId: string) => `${runPath(agentId, runId)}/stream`;
export const artifactUrl = (agentId: string, path: string) =>
  `${agentPath(agentId)}/artifact?path=${encodeURIComponent(path)}`;

export const listConversations = () => ask<Conversation[]>("/api/agents");
export const listModels = () => ask<Pick<Model, "id" | "displayName">[]>("/api/models");
export const startAgent = (agent: NewAgent) => ask<Conversation>("/api/agents", agent);
export const followUp = (agentId: string, prompt: string) =>
  ask<Conversation>(`${agentPath(agentId)}/runs`, { prompt });
export const cancelRun = (agentId: string, runId: string) =>
  ask<unknown>(`${runPath(agentId, runId)}/cancel`, {});
export const listArtifacts = (agentId: string) =>
  ask<{ items: Artifact[] }>(`${agentPath(agentId)}/artifacts`);

async function ask<Answer>(path: string, body?: object): Promise<Answer> {
  const init = body && {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  const response = await fetch(path, init).catch(() => undefined);
  if (!response) throw new RefusalError(0, "The server can't be reached. Try again in a moment.");
  const answer = (await response.json().catch(() => undefined)) as Answer & { error?: { message?: string } };
  if (!response.ok) {
    throw new RefusalError(response.status, answer?.error?.message ?? "The server could not do that.");
  }
  return answer;
}
