// `npm run bench`: this package against the least that could do the same work.
//   -- --quick        few rounds and small loads, for CI
//   -- --strict       fails when a figure is missed
//   -- --only a,b     these figures alone
//   -- --rounds 9     more turns each
//   -- --no-build     of dist/ as it is
import { parseArgs } from "node:util";
import { crossTable, type Figure, isMet, printFigure, summaryOf } from "./figure.ts";
import { bundling, importing, installing, typing } from "./packages.ts";
import { command, makePrograms, root } from "./processes.ts";
import {
  firstEvent,
  idle,
  memoryDownload,
  memoryStream,
  requestMany,
  requestOne,
  type Size,
  streamAll,
  streamLarge,
  streamSimplified,
} from "./timed.ts";

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    strict: { type: "boolean", default: false },
    only: { type: "string" },
    rounds: { type: "string" },
    peers: { type: "string" },
    "no-build": { type: "boolean", default: false },
  },
});
const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
const size: Size = {
  rounds: rounds ?? (values.quick ? 2 : 7),
  load: values.quick ? 0.1 : 1,
  peers: values.peers?.split(",") ?? [],
};

const figures: Record<string, (size: Size) => Promise<Figure | Figure[]>> = {
  "sse.all": streamAll,
  "sse.simplified": streamSimplified,
  "sse.large": streamLarge,
  request: requestOne,
  "request.c50": requestMany,
  import: importing,
  bundle: bundling,
  install: installing,
  "memory.stream": (size) => memoryStream({ ...size, rounds: Math.min(size.rounds, 5) }),
  "memory.download": (size) => memoryDownload({ ...size, rounds: Math.min(size.rounds, 5) }),
  "streams.idle": (size) => idle({ ...size, rounds: Math.min(size.rounds, 5) }),
  "first.event": firstEvent,
  types: typing,
};
const chosen = values.only?.split(",") ?? Object.keys(figures);
const unknown = chosen.filter((name) => !figures[name]);
if (unknown.length > 0 || !(size.rounds >= 1)) {
  console.error(`known figures: ${Object.keys(figures).join(", ")}; rounds from 1 on`);
  process.exit(2);
}

const warning = values.quick ? "quick: not to be quoted" : undefined;
console.log(`node ${process.version}, ${process.platform} ${process.arch}${warning ? `; ${warning}` : ""}`);
if (!values["no-build"]) await command("npm", ["run", "--silent", "build"], root);
await makePrograms(["stream", "request", "memory", "idle", "first-event", "server"]);

const measured: Figure[] = [];
for (const name of chosen) {
  for (const figure of [await figures[name]!(size)].flat()) {
    printFigure(figure);
    measured.push(figure);
  }
}
console.log(`\n${size.peers.length > 0 ? crossTable(measured) : summaryOf(measured)}`);
if (warning) console.log(warning);
if (values.strict && !measured.every(isMet)) process.exitCode = 1;
