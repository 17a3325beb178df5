import type { components } from "../../generated/openapi.ts";

type Schemas = components["schemas"];

export type Agent = Schemas["Agent"];
export type AgentEnv = Schemas["AgentEnv"];
export type AgentMode = Schemas["AgentMode"];
export type AgentSummary = Schemas["AgentSummary"];
export type ApiKeyInfo = Schemas["ApiKeyInfo"];
export type CreateAgentRequest = Schemas["CreateAgentRequest"];
export type Git = Schemas["GitInfo"];
export type GitBranch = Schemas["GitBranch"];
export type Model = Schemas["Model"];
export type RepoConfig = Schemas["RepoConfig"];
export type Run = Schemas["Run"];
export type RunStatus = Schemas["RunStatus"];
export type RunSummary = Schemas["RunSummary"];
export type Usage = Schemas["Usage"];
