import fc from "fast-check";
import type { Verdict } from "./law.ts";
import { playWorld, worldArbitrary } from "./world.ts";

export interface BenchOptions {
  runs: number;
  seed: number;
  /** Where in the tree of a seed a failure was found: fast-check's own path. */
  path?: string | undefined;
  onProgress?: (runs: number) => void;
}

export interface BenchReport {
  summary: string;
  /** What failed, in words, with the command that replays it. */
  failure: string | undefined;
}

/** Plays worlds until one breaks the law, then looks for the smallest that still does. */
export async function bench({ runs, seed, path, onProgress }: BenchOptions): Promise<BenchReport> {
  const began = performance.now();
  const totals = { runs: 0, connections: 0, cuts: 0, events: 0, lost: 0, duplicated: 0, wrongOutcomes: 0 };
  let hasFailed = false;
  const stray: unknown[] = [];
  const onStray = (reason: unknown) => stray.push(reason);
  process.on("unhandledRejection", onStray);
  const property = fc.asyncProperty(worldArbitrary, async (world) => {
    const verdict: Verdict = await playWorld(world);
    for (const reason of stray.splice(0)) verdict.problems.push(`unhandled: ${String(reason)}`);
    // What is played to shrink a failure isn't counted.
    if (!hasFailed) add(totals, verdict);
    onProgress?.(totals.runs);
    hasFailed ||= verdict.problems.length > 0;
    if (verdict.problems.length > 0) throw new Error(verdict.problems.slice(0, 12).join("\n"));
  });
  const details = await fc.check(property, { numRuns: runs, seed, ...(path === undefined ? {} : { path }) });
  process.off("unhandledRejection", onStray);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const { connections, cuts, events, lost, duplicated, wrongOutcomes } = totals;
  return {
    summary: [
      `runs ${totals.runs}`,
      `connections ${connections}`,
      `cuts ${cuts}`,
      `events ${events}`,
      `lost ${lost}`,
      `duplicated ${duplicated}`,
      `wrong outcomes ${wrongOutcomes}`,
      `seed ${seed}`,
      `${seconds} s`,
    ].join("  "),
    failure: details.failed ? describe(details, seed) : undefined,
  };
}

function add(totals: Record<string, number>, verdict: Verdict): void {
  totals["runs"] = (totals["runs"] ?? 0) + 1;
  for (const name of ["connections", "cuts", "events", "lost", "duplicated", "wrongOutcomes"] as const) {
    totals[name] = (totals[name] ?? 0) + verdict[name];
  }
}

function describe<World>(details: fc.RunDetails<World>, seed: number): string {
  const error = details.errorInstance;
  return [
    error instanceof Error ? error.message : String(error),
    `the smallest world that shows it, after ${details.numShrinks} steps:`,
    fc.stringify(details.counterexample),
    `replay: npm run chaos -- --seed ${seed} --path ${details.counterexamplePath}`,
  ].join("\n");
}
