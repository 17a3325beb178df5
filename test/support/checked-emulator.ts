import { CursorEmulator, type EmulatorOptions } from "cursor-cloud-agents/emulator";
import { afterEach, expect } from "vitest";
import { checkExchange } from "./contract.ts";

const problems: string[] = [];
const waived: RegExp[] = [];

/** An emulator whose every exchange is held against openapi.yaml; a breach fails the test that caused it. */
export function checkedEmulator(options: EmulatorOptions = {}): CursorEmulator {
  return new CursorEmulator({
    ...options,
    onExchange: (exchange) => {
      problems.push(...checkExchange(exchange));
      options.onExchange?.(exchange);
    },
  });
}

/** For a test that makes the emulator say what the contract doesn't know: names that, and only that. */
export function waive(problem: RegExp): void {
  waived.push(problem);
}

afterEach(() => {
  const found = problems.splice(0);
  const expected = waived.splice(0);
  expect(found.filter((problem) => !expected.some((waiver) => waiver.test(problem)))).toEqual([]);
  // A waiver that nothing needed is a check that sleeps.
  expect(expected.filter((waiver) => !found.some((problem) => waiver.test(problem)))).toEqual([]);
});
