import { expect, it } from "vitest";
import { bench } from "./bench.ts";

it("300 worlds of cuts, stalls and lost answers lose nothing, tell nothing twice and end as their runs did", async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const { summary, failure } = await bench({ runs: 300, seed });
  console.log(`chaos: ${summary}`);
  expect(failure).toBeUndefined();
}, 120_000);
