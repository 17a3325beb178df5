import { describe, expect, it } from "vitest";
import { RecentIds } from "../../src/run-stream/recent-ids.ts";

const ids = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `${from + index}-0`);

describe("the ids of a stream", () => {
  it.each([1, 7, 400])("are remembered, the last 10,000 at least, when %i come at once", (size) => {
    const recent = new RecentIds();
    for (let at = 0; at < 35_000; at += size) recent.add(ids(at, Math.min(at + size, 35_000)));
    expect(ids(25_000, 35_000).every((id) => recent.has(id))).toBe(true);
    expect(recent.has("0-0")).toBe(false);
    expect(recent.hasForgotten).toBe(true);
  });

  it("are remembered as well when they come after the first look", () => {
    const recent = new RecentIds();
    recent.add(["1-0"]);
    expect([recent.has("1-0"), recent.has("2-0")]).toEqual([true, false]);
    recent.add(["2-0", "3-0"]);
    expect([recent.has("2-0"), recent.has("3-0"), recent.has("2-0\n3-0")]).toEqual([true, true, false]);
    expect(recent.hasForgotten).toBe(false);
  });

  it("are none before the first", () => {
    const recent = new RecentIds();
    expect(recent.isEmpty).toBe(true);
    recent.add(["1-0"]);
    expect(recent.isEmpty).toBe(false);
  });
});
