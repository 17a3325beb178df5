import { beforeAll, describe, expect, it } from "vitest";
import { MiB, program, run, sized } from "./support.ts";

let file: string;
beforeAll(async () => {
  file = await program(new URL("children/many-events.ts", import.meta.url));
});

/** `count` events of so many bytes, with ids of so many. */
const read = async (way: "time" | "memory" | "pieces", count: number, size: number, idSize = 16) =>
  (await run(file, [way, count, size, idSize], { flags: ["--expose-gc", "--max-old-space-size=256"] }))[0];

describe("a stream of very many events", () => {
  it("takes time by their number", { timeout: 120_000 }, async () => {
    const { ratio } = await read("time", sized(60_000, 1_000_000), 40);
    // Four times as many: about 4 where it is linear, 16 where it is not.
    expect(ratio).toBeLessThan(7);
  });

  it("keeps none of them", { timeout: 60_000 }, async () => {
    const { inside, after } = await read("memory", sized(50_000, 1_000_000), 40);
    // The last 10,000 ids, and no more.
    expect(inside).toBeLessThan(3 * MiB);
    expect(after).toBeLessThan(0.5 * MiB);
  });

  it("keeps a window of ids, whatever their number", { timeout: 60_000 }, async () => {
    // All of them would be 20 MB.
    const { inside } = await read("memory", sized(40_000, 400_000), 10, 500);
    expect(inside).toBeLessThan(10_000 * 500 + 3 * MiB);
  });

  it("keeps ids, not the chunks that they came in", async () => {
    // Large events, ids of the usual length: all of their chunks would be 24 MB.
    const { inside } = await read("memory", sized(3_000, 20_000), 8_192);
    expect(inside).toBeLessThan(3 * MiB);
  });

  it("keeps what is quoted of a text, not the text", async () => {
    const { inside, kept } = await read("pieces", 4, 4 * MiB);
    expect(Math.min(...kept)).toBeGreaterThan(4_000);
    expect(inside).toBeLessThan(1 * MiB);
  });
});
