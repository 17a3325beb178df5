import {
  type Agent,
  type AgentMode,
  type AgentStatus,
  type AgentSummary,
  ApiError,
  type ApiPromise,
  type Artifact,
  type Cursor,
  type CursorError,
  isApiError,
  isTimeoutError,
  type Model,
  type Page,
  type PagePromise,
  type Repository,
  type Run,
  type RunEvent,
  type RunRef,
  type RunStatus,
  type RunSummary,
  type TerminalRun,
  type WithResponse,
} from "cursor-cloud-agents";
import { expectTypeOf } from "vitest";

// What callers get. Checked by `npx tsc`.

declare const cursor: Cursor;

/** The literals that an editor offers for an open union: a plain `string` has none. */
type Known<Union> = Union extends string ? (string extends Union ? never : Union) : never;
type Open = string & Record<never, never>;

// ── Open unions keep their literals, and take what is not known yet ──

type RunStatuses = "CREATING" | "RUNNING" | "FINISHED" | "ERROR" | "CANCELLED" | "EXPIRED";
expectTypeOf<Exclude<RunStatus, Open>>().toEqualTypeOf<never>();
expectTypeOf<Extract<Known<RunStatus>, RunStatuses>>().toEqualTypeOf<RunStatuses>();
expectTypeOf<Extract<Known<AgentStatus>, "ACTIVE" | "IDLE" | "ARCHIVED">>().toEqualTypeOf<
  "ACTIVE" | "IDLE" | "ARCHIVED"
>();
expectTypeOf<Extract<Known<AgentMode>, "agent" | "plan">>().toEqualTypeOf<"agent" | "plan">();
// @ts-expect-error a plain string has no literals: the check above could fail
expectTypeOf<Extract<Known<string>, "ACTIVE">>().toEqualTypeOf<"ACTIVE">();
export const tomorrow: RunStatus = "PAUSED";

// @ts-expect-error without a default, a status of tomorrow falls through
export function labelWithoutDefault(status: RunStatus): string {
  switch (status) {
    case "CREATING":
    case "RUNNING":
      return "under way";
    case "FINISHED":
    case "ERROR":
    case "CANCELLED":
    case "EXPIRED":
      return "over";
  }
}
export function label(status: RunStatus): string {
  switch (status) {
    case "RUNNING":
      return "under way";
    default:
      return status;
  }
}

// ── Lists and what they don't have ──

export function lists(agent: Agent, item: AgentSummary, run: Run, listed: RunSummary) {
  expectTypeOf(agent).toHaveProperty("repos");
  expectTypeOf(item.latestRunId).toEqualTypeOf<string | undefined>();
  // @ts-expect-error only agents.get() has the repositories
  item.repos;
  // @ts-expect-error only agents.get() has it
  item.autoCreatePR;
  // @ts-expect-error only agents.get() has it
  item.workOnCurrentBranch;
  expectTypeOf(run.result).toEqualTypeOf<string | undefined>();
  // @ts-expect-error only runs.get() has the result
  listed.result;
}

export async function pages() {
  expectTypeOf(cursor.agents.list()).toEqualTypeOf<PagePromise<AgentSummary>>();
  expectTypeOf(cursor.runs.list("bc-1")).toEqualTypeOf<PagePromise<RunSummary>>();
  expectTypeOf(cursor.artifacts.list("bc-1")).toEqualTypeOf<PagePromise<Artifact>>();
  expectTypeOf(cursor.models.list()).toEqualTypeOf<PagePromise<Model>>();
  expectTypeOf(cursor.repositories.list()).toEqualTypeOf<PagePromise<Repository>>();
  for await (const item of cursor.agents.list()) expectTypeOf(item).toEqualTypeOf<AgentSummary>();
  for await (const page of cursor.agents.list().pages())
    expectTypeOf(page.items).toEqualTypeOf<AgentSummary[]>();
  const page = await cursor.agents.list();
  expectTypeOf(page.nextCursor).toEqualTypeOf<string | undefined>();
  expectTypeOf(await page.nextPage()).toEqualTypeOf<Page<AgentSummary> | undefined>();
}

export async function promises() {
  expectTypeOf(cursor.agents.get("bc-1")).toEqualTypeOf<ApiPromise<Agent>>();
  expectTypeOf(cursor.agents.get("bc-1")).toExtend<Promise<Agent>>();
  expectTypeOf(await cursor.agents.get("bc-1")).toEqualTypeOf<Agent>();
  expectTypeOf(await cursor.agents.get("bc-1").withResponse()).toEqualTypeOf<WithResponse<Agent>>();
  expectTypeOf(await cursor.agents.delete("bc-1")).toEqualTypeOf<{ id: string }>();
  const { run, adopted } = await cursor.agents.create({ prompt: "x" });
  expectTypeOf(run).toEqualTypeOf<Run>();
  expectTypeOf(adopted).toEqualTypeOf<true | undefined>();
  // @ts-expect-error an answer is not any
  (await cursor.me()) satisfies number;
}

// ── Runs ──

export async function runs(run: Run) {
  expectTypeOf<Run>().toExtend<RunRef>();
  expectTypeOf<RunSummary>().toExtend<RunRef>();
  expectTypeOf<TerminalRun>().toExtend<RunRef>();
  cursor.runs.stream(run);
  cursor.runs.cancel({ agentId: "bc-1", id: "run-1" });
  // @ts-expect-error a run's id is `id`
  cursor.runs.get({ agentId: "bc-1", runId: "run-1" });
  const ended = await cursor.runs.wait(run);
  expectTypeOf(ended).toEqualTypeOf<TerminalRun>();
  expectTypeOf(ended.status).toEqualTypeOf<"FINISHED" | "ERROR" | "CANCELLED" | "EXPIRED">();
  // @ts-expect-error only a run that FINISHED has a result
  ended.result;
  if (ended.status === "FINISHED") {
    expectTypeOf(ended.result).toEqualTypeOf<string | undefined>();
    // @ts-expect-error what FINISHED said is no fragment
    ended.partialResult;
  } else {
    expectTypeOf(ended.partialResult).toEqualTypeOf<string | undefined>();
    // @ts-expect-error what it said before it failed is no result
    ended.result;
  }
}

export function events(event: RunEvent): string {
  expectTypeOf(event.id).toEqualTypeOf<string | undefined>();
  switch (event.type) {
    case "assistant":
    case "thinking":
      expectTypeOf(event.data.text).toEqualTypeOf<string>();
      return event.data.text;
    case "tool_call":
      expectTypeOf(event.data.callId).toEqualTypeOf<string>();
      // @ts-expect-error a tool call has no text
      return event.data.text;
    case "status":
    case "result":
      expectTypeOf(event.data.status).toEqualTypeOf<RunStatus>();
      return event.data.runId;
    case "error":
      return event.data.code;
    case "unknown":
      expectTypeOf(event.data).toEqualTypeOf<unknown>();
      return event.name;
    case "invalid":
      // @ts-expect-error what couldn't be read has no data
      event.data;
      return event.raw;
    case "interaction_update":
    case "heartbeat":
    case "done":
      return event.type;
  }
}

// @ts-expect-error events of tomorrow are "unknown" today: the switch above is complete, this one isn't
export function fewEvents(event: RunEvent): string {
  switch (event.type) {
    case "assistant":
      return event.data.text;
  }
}

// ── Errors ──

export function errors(error: unknown) {
  if (isApiError(error, "agent_busy")) {
    expectTypeOf(error.code).toEqualTypeOf<"agent_busy">();
    expectTypeOf(error.status).toEqualTypeOf<number>();
  }
  if (isApiError(error)) expectTypeOf(error.code).toEqualTypeOf<string | undefined>();
  if (ApiError.isInstance(error)) expectTypeOf(error).toEqualTypeOf<ApiError>();
  if (isTimeoutError(error)) expectTypeOf(error.phase).toEqualTypeOf<"connect" | "body" | "deadline">();
  expectTypeOf<ApiError>().toExtend<CursorError>();
  expectTypeOf<CursorError["outcome"]>().toEqualTypeOf<"unknown" | undefined>();
  // @ts-expect-error a message is nothing to branch on, a code is
  if (isApiError(error, 409)) return;
}
