import { isDeepStrictEqual } from "node:util";
import type { Run, RunEvent, RunResult, TerminalRun } from "cursor-cloud-agents";
import type { Reading } from "./consumer.ts";
import type { Plan } from "./plan.ts";
import { type Told, told, type Wanted } from "./wanted.ts";

/** What became of a world. */
export interface Verdict {
  connections: number;
  cuts: number;
  events: number;
  lost: number;
  duplicated: number;
  wrongOutcomes: number;
  /** In words; empty when the law holds. */
  problems: string[];
}

/** What the law is held against. */
export interface Evidence {
  wanted: Wanted;
  run: Run;
  reading: Reading;
  plan: Plan;
  /** The stream itself said that something is wrong: the client looks at the run, and settles if it is over. */
  hasErrorEvent: boolean;
  /** The last connection told everything, so nothing of the end had to be supplied. */
  isEndTold: boolean;
}

const terminal = ["FINISHED", "ERROR", "CANCELLED", "EXPIRED"];

/** Every wanted event once and in order; statuses never going back; the emulator's outcome. */
export function judge(
  { wanted, run, reading, plan, hasErrorEvent, isEndTold }: Evidence,
  verdict: Verdict,
): void {
  const mayBeGone = plan.mayHaveGivenUp || hasErrorEvent;
  for (const result of reading.results) judgeOutcome(result, run, verdict);
  if (reading.text !== undefined && !isAsFar(reading.text, wanted.text, mayBeGone)) {
    fail(verdict, "lost", `text() gave ${JSON.stringify(reading.text)} of ${JSON.stringify(wanted.text)}`);
  }
  const [last] = reading.results.slice(-1);
  const isOfWhole = reading.isWhole && last !== undefined && "streamedText" in last;
  if (isOfWhole && !isAsFar(last.streamedText, wanted.text, last.source === "run")) {
    fail(verdict, "lost", `streamedText ${JSON.stringify(last.streamedText)} is not the run's`);
  }
  const isSupplied = reading.events?.some((event) => event.type === "done" && event.synthesized === true);
  if (isEndTold && isSupplied && !mayBeGone && reading.leaves === 0) {
    fail(verdict, "wrongOutcomes", "done was supplied, though it was on its way");
  }
  if (reading.events) judgeEvents(reading.events, wanted, run, mayBeGone, verdict);
  if (plan.streamsAfterGone > reading.leaves) {
    fail(verdict, "wrongOutcomes", `${plan.streamsAfterGone} stream requests after 410`);
  }
}

const isAsFar = (text: string, whole: string, mayStop: boolean): boolean =>
  text === whole || (mayStop && whole.startsWith(text));

function judgeEvents(
  events: RunEvent[],
  wanted: Wanted,
  run: Run,
  mayBeGone: boolean,
  verdict: Verdict,
): void {
  const placed = events.filter(({ id }) => id !== undefined).map(told);
  const synthesized = events.find((event) => event.type === "result" && event.synthesized === true);
  const expected = synthesized ? wanted.events.slice(0, placed.length) : wanted.events;
  countDifferences(placed, expected, verdict);
  if (synthesized && !mayBeGone)
    fail(verdict, "wrongOutcomes", "a result was synthesized beside a living stream");
  if (synthesized?.type === "result") judgeOutcome(synthesized.data, run, verdict);
  const endings = events.filter(({ type }) => type === "result" || type === "done").map(({ type }) => type);
  if (endings.join() !== "result,done")
    fail(verdict, "lost", `the end was told as ${endings.join() || "nothing"}`);
  const errors = events.filter(({ type }) => type === "error");
  if (errors.length > 1) fail(verdict, "duplicated", "the error was told more than once");
  judgeStatuses(events, synthesized ? undefined : wanted.lastStatus, verdict);
}

function countDifferences(placed: Told[], expected: Told[], verdict: Verdict): void {
  if (isDeepStrictEqual(placed, expected)) return;
  const left = new Map<Told, number>();
  for (const event of expected) left.set(event, (left.get(event) ?? 0) + 1);
  const before = verdict.lost + verdict.duplicated;
  for (const event of placed) {
    const count = left.get(event) ?? 0;
    if (count === 0) fail(verdict, "duplicated", `again, or never said: ${event.slice(0, 200)}`);
    else left.set(event, count - 1);
  }
  for (const [event, count] of left) {
    if (count > 0) fail(verdict, "lost", `lost: ${event.slice(0, 200)}`);
  }
  if (verdict.lost + verdict.duplicated === before) fail(verdict, "lost", "told in another order");
}

function judgeStatuses(events: RunEvent[], last: string | undefined, verdict: Verdict): void {
  const statuses = events.flatMap((event) => (event.type === "status" ? [event.data.status] : []));
  const known = statuses
    .map((status) => ["CREATING", "RUNNING"].indexOf(status))
    .map((at) => (at < 0 ? 2 : at));
  statuses.forEach((status, index) => {
    if (status === statuses[index - 1]) fail(verdict, "duplicated", `status ${status} was told again`);
    const goesBack = known
      .slice(0, index)
      .some((stage, at) => statuses[at] !== "PAUSED" && stage > (known[index] ?? 2));
    if (status !== "PAUSED" && goesBack) fail(verdict, "duplicated", `status went back: ${statuses.join()}`);
  });
  if (last !== undefined && !statuses.includes(last)) fail(verdict, "lost", `status ${last} was never told`);
  if (statuses.filter((status) => terminal.includes(status)).length > 1) {
    fail(verdict, "duplicated", `two ends: ${statuses.join()}`);
  }
}

function judgeOutcome(
  result: RunResult | TerminalRun | Record<string, unknown>,
  run: Run,
  verdict: Verdict,
): void {
  const { status, text, result: reply, partialResult, git, durationMs } = result as Record<string, unknown>;
  const outcome = { status, text: text ?? reply ?? partialResult, git, durationMs };
  const expected = { status: run.status, text: run.result, git: run.git, durationMs: run.durationMs };
  if (!isDeepStrictEqual(outcome, expected)) {
    fail(verdict, "wrongOutcomes", `outcome ${JSON.stringify(outcome)}, not ${JSON.stringify(expected)}`);
  }
}

export function fail(verdict: Verdict, kind: "lost" | "duplicated" | "wrongOutcomes", problem: string): void {
  verdict[kind]++;
  verdict.problems.push(problem);
}
