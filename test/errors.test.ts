import { inspect } from "node:util";
import {
  ApiError,
  ArgumentError,
  ConnectionError,
  CursorError,
  isApiError,
  isArgumentError,
  isConnectionError,
  isCursorError,
  isRunFailedError,
  isStreamError,
  isTimeoutError,
  RunFailedError,
  StreamError,
  TimeoutError,
} from "cursor-cloud-agents";
import { describe, expect, it, vi } from "vitest";
import { addFacts, factsOf } from "../src/errors.ts";
import { run } from "./support/sample-run.ts";

const at = { method: "GET", path: "/v1/me" };
const failed = { ...run, status: "ERROR" as const };

const family = [
  { error: new CursorError("m"), guard: isCursorError, name: "CursorError", kind: "error" },
  { error: new ApiError("m", { ...at, status: 409 }), guard: isApiError, name: "ApiError", kind: "api" },
  {
    error: new ConnectionError("m", at),
    guard: isConnectionError,
    name: "ConnectionError",
    kind: "connection",
  },
  {
    error: new TimeoutError("m", { phase: "body" }),
    guard: isTimeoutError,
    name: "TimeoutError",
    kind: "timeout",
  },
  {
    error: new StreamError("m", { reason: "closed" }),
    guard: isStreamError,
    name: "StreamError",
    kind: "stream",
  },
  { error: new RunFailedError(failed), guard: isRunFailedError, name: "RunFailedError", kind: "run" },
  { error: new ArgumentError("a", "m"), guard: isArgumentError, name: "ArgumentError", kind: "argument" },
];

describe.each(family)("$name", ({ error, guard, name, kind }) => {
  it("has its own name and kind, and is an Error and a CursorError", () => {
    expect([error.name, error.kind]).toEqual([name, kind]);
    expect(error).toBeInstanceOf(Error);
    expect(error).toBeInstanceOf(CursorError);
    expect(String(error)).toContain(`${name}: `);
    expect(error.stack).toContain(error.message);
  });

  it("is recognised by its guard and by the guard of the base, and by no other", () => {
    expect(guard(error)).toBe(true);
    expect(isCursorError(error)).toBe(true);
    for (const other of family) {
      if (other.kind !== kind && other.kind !== "error") expect(other.guard(error)).toBe(false);
    }
  });

  it("becomes plain JSON with its fields, name and message", () => {
    const json = JSON.parse(JSON.stringify(error));
    expect(json).toMatchObject({ name, kind, message: error.message });
    expect(json).not.toHaveProperty("stack");
    expect(json).not.toHaveProperty("cause");
  });
});

it.each([undefined, null, 0, "", {}, new Error("m"), { kind: "api" }, { name: "ApiError", kind: "api" }])(
  "%j is none of ours",
  (value) => {
    for (const { guard } of family) expect(guard(value)).toBe(false);
  },
);

it("isApiError narrows by code", () => {
  const error: unknown = new ApiError("m", { ...at, status: 409, code: "agent_busy" });
  expect(isApiError(error, "agent_busy")).toBe(true);
  expect(isApiError(error, "agent_archived")).toBe(false);
  if (isApiError(error, "agent_busy")) expect(error.code satisfies "agent_busy").toBe("agent_busy");
});

it("keeps the cause, and has no cause where there was none", () => {
  const cause = new Error("read ECONNRESET");
  expect(new ConnectionError("m", { ...at, cause }).cause).toBe(cause);
  expect("cause" in new ConnectionError("m", at)).toBe(false);
});

it("absent fields are absent, not undefined", () => {
  expect(
    Object.keys(new ApiError("m", { ...at, status: 500, code: undefined, agentId: undefined })).sort(),
  ).toEqual(["kind", "method", "name", "path", "status"]);
});

it("carries the agent, the run and the outcome where they are known", () => {
  const error = new TimeoutError("m", {
    phase: "connect",
    agentId: "bc-1",
    runId: "run-1",
    outcome: "unknown",
  });
  expect(error).toMatchObject({ agentId: "bc-1", runId: "run-1", outcome: "unknown" });
  expect(JSON.parse(JSON.stringify(error))).toMatchObject({ agentId: "bc-1", outcome: "unknown" });
  expect(new RunFailedError(failed)).toMatchObject({ agentId: run.agentId, runId: run.id, run: failed });
});

it("the brand doesn't show in a log", () => {
  expect(inspect(new CursorError("m"))).not.toContain("Symbol");
});

it("an error of another copy of the package is recognised, by class and by guard", async () => {
  vi.resetModules();
  const other = await import("cursor-cloud-agents");
  expect(other.ApiError).not.toBe(ApiError);
  const error = new other.ApiError("m", { ...at, status: 409, code: "agent_busy" });
  expect(error instanceof ApiError).toBe(false);
  expect(ApiError.isInstance(error)).toBe(true);
  expect(CursorError.isInstance(error)).toBe(true);
  expect(isApiError(error, "agent_busy")).toBe(true);
  expect(isTimeoutError(error)).toBe(false);
  expect(other.isApiError(new ApiError("m", { ...at, status: 500 }))).toBe(true);
});

it("what the client records of a failure shows neither in its fields, nor in JSON, nor in logs", () => {
  const plain = new ApiError("m", { ...at, status: 409 });
  const error = new ApiError("m", { ...at, status: 409 });
  addFacts(error, { isTorn: true });
  addFacts(error, { isUnsent: true });
  expect(factsOf(error)).toEqual({ isTorn: true, isUnsent: true });
  expect(Object.keys(error)).toEqual(Object.keys(plain));
  expect({ ...error }).toEqual({ ...plain });
  expect(JSON.stringify(error)).toBe(JSON.stringify(plain));
  const log = (shown: Error) => inspect(shown).replace(/^ +at .*$/gm, "");
  expect(log(error)).toBe(log(plain));
});

it("nothing is recorded on an error of the caller's", () => {
  const reason = Object.freeze(new Error("the user left"));
  addFacts(reason, { isUnsent: true });
  expect(factsOf(reason)).toEqual({});
});
