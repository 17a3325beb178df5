import { describe, expect, it } from "vitest";
import { RecentIds } from "../../src/runs/recent-ids.ts";

const ids = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `${from + index}-0`);

describe("the ids of a stream", () => {
  it("are remembered, the last 10,000 at least", () => {
    const recent = new RecentIds();
    for (const id of ids(0, 35_000)) recent.add(id);
    expect(ids(25_000, 35_000).every((id) => recent.has(id))).toBe(true);
    expect(recent.has("0-0")).toBe(false);
    expect(recent.hasForgotten).toBe(true);
  });

  it("are remembered also when they come after the first search", () => {
    const recent = new RecentIds();
    recent.add("1-0");
    expect([recent.has("1-0"), recent.has("2-0")]).toEqual([true, false]);
    for (const id of ["2-0", "3-0"]) recent.add(id);
    expect([recent.has("2-0"), recent.has("3-0"), recent.has("2-0\n3-0")]).toEqual([true, true, false]);
    expect(recent.hasForgotten).toBe(false);
  });

  it("are kept apart whatever their length and letters", () => {
    const recent = new RecentIds();
    const odd = [
      "a",
      "ab",
      "größer",
      "読み込み-1",
      "🎉",
      "\ud83c",
      "x".repeat(10_000),
      "x".repeat(4_000_000),
    ];
    for (const id of odd) recent.add(id);
    for (const id of odd) expect(recent.has(id), id.slice(0, 20)).toBe(true);
    expect(["", "b", "x".repeat(9_999)].some((id) => recent.has(id))).toBe(false);
    for (const id of ids(0, 25_000)) recent.add(id);
    expect([recent.has("a"), recent.has("24999-0")]).toEqual([false, true]);
  });

  it("are none before the first one", () => {
    const recent = new RecentIds();
    expect(recent.isEmpty).toBe(true);
    recent.add("1-0");
    expect(recent.isEmpty).toBe(false);
  });
});
