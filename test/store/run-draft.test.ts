import type { RunEvent } from "cursor-cloud-agents";
import { describe, expect, it } from "vitest";
import { RunDraft } from "../../src/store/run-draft.ts";
import { text, tool } from "./support.ts";

const copying = ["slice", "concat", "map", "filter", "findIndex", Symbol.iterator] as const;

/** How many elements of arrays are walked over while `work` runs, by whatever copies or searches an array. */
function walkedElements(work: () => void): number {
  const originals = copying.map((name) => Object.getOwnPropertyDescriptor(Array.prototype, name)!);
  let count = 0;
  for (const name of copying) {
    const original = Array.prototype[name] as (one: unknown, two: unknown) => unknown;
    Object.defineProperty(Array.prototype, name, {
      configurable: true,
      value(this: unknown[], one: unknown, two: unknown) {
        count += this.length;
        return original.call(this, one, two);
      },
    });
  }
  try {
    work();
  } finally {
    for (let index = 0; index < copying.length; index++) {
      Object.defineProperty(Array.prototype, copying[index]!, originals[index]!);
    }
  }
  return count;
}

describe("a run of thousands of events", () => {
  const events: RunEvent[] = Array.from({ length: 5_000 }, (_, index) =>
    index % 3 === 0 ? text(`${index}`, "x") : tool(`${index}`, `call-${index >> 1}`, "running"),
  );

  it("copies its parts once when they are read, not once per event", () => {
    const draft = new RunDraft();
    const growing = walkedElements(() => {
      for (let index = 0; index < events.length; index++) draft.add(events[index]!);
    });
    expect(growing).toBe(0);
    let length = 0;
    const asking = walkedElements(() => {
      length = draft.parts.length;
      for (let times = 0; times < 100; times++) draft.parts;
    });
    expect(length).toBeGreaterThan(3_000);
    expect(asking).toBe(length);
  });

  it("counts what is copied: a list rebuilt per event would be seen", () => {
    expect(walkedElements(() => [...events])).toBe(events.length);
    expect(walkedElements(() => events.slice())).toBe(events.length);
  });
});
