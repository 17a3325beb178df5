// The chaos bench: `npm run chaos -- --runs 2000 --seed 1` plays worlds of cuts, stalls and lost answers, and prints one line.

import { parseArgs } from "node:util";
import { bench } from "./bench.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "2000" },
    seed: { type: "string" },
    path: { type: "string" },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const runs = values.path === undefined ? Number(values.runs) : 1;
if (!Number.isInteger(seed) || !Number.isInteger(runs) || runs < 1) {
  console.error("usage: npm run chaos -- [--runs N] [--seed S] [--path P]");
  process.exit(2);
}
const report = await bench({
  runs,
  seed,
  path: values.path,
  onProgress: (played) => {
    if (played % 500 === 0) console.error(`${played} of ${runs}`);
  },
});
if (report.failure !== undefined) console.error(report.failure);
console.log(report.summary);
process.exitCode = report.failure === undefined ? 0 : 1;
