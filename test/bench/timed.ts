// Figures that are measured by running programs: time, memory, turns of the event loop.
import { join } from "node:path";
import { type Figure, median, rowsOf, takeTurns } from "./figure.ts";
import { run, scratch, withServer } from "./processes.ts";

/** How much is measured. */
export interface Size {
  rounds: number;
  /** Share of the full load. */
  load: number;
  /** Peers that take part, by the name of their package. */
  peers: string[];
}

const only = (peers: string[], known: string[]): string[] => known.filter((name) => peers.includes(name));
const megabyte = 1_000_000;

interface Timed {
  ms: number;
  cpu: number;
  count: number;
}

/** Ratios are of the processor's time: what a neighbour takes of a shared machine is not in it. Both are told. */
const wallNote = (own: Timed[], floor: Timed[]): string =>
  `by the clock ${median(own.map(({ ms }, round) => ms / floor[round]!.ms)).toFixed(2)}`;

async function stream(
  figure: Pick<Figure, "name" | "what" | "reach">,
  contenders: string[],
  load: { kind: "mix" | "large"; bytes: number; chunk: number },
  rounds: number,
): Promise<Figure> {
  let expected = 0;
  const results = await takeTurns(contenders, rounds, async (contender): Promise<Timed> => {
    // The default mode leaves out what the floor sees; of a peer that loses events it is told.
    const check = contender === "ours:all" ? expected : 0;
    const flags = ["--expose-gc"];
    const timed = await run("stream", [contender, load.kind, load.bytes, load.chunk, check], flags);
    if (contender === "floor") expected = timed.count;
    return timed;
  });
  const note = (own: Timed[], floor: Timed[]) => {
    const seen = own[0]!.count;
    return `${wallNote(own, floor)}${seen === expected ? "" : `; ${seen} of ${expected} events`}`;
  };
  return { ...figure, rounds, ...rowsOf(results, ({ cpu }) => cpu, "ms", note) };
}

const readers = ["openai", "@anthropic-ai/sdk", "@microsoft/fetch-event-source"];

export const streamAll = ({ rounds, load, peers }: Size): Promise<Figure> =>
  stream(
    {
      name: "sse.all",
      what: "bytes to typed events in a `for await`, every frame parsed; 64 KiB chunks",
      reach: 1.12,
    },
    ["floor", "ours:all", ...only(peers, readers)],
    { kind: "mix", bytes: 48 * megabyte * load, chunk: 65_536 },
    rounds,
  );

export const streamSimplified = ({ rounds, load }: Size): Promise<Figure> =>
  stream(
    {
      name: "sse.simplified",
      what: "the default mode on the same bytes; twins are dropped unparsed",
      reach: 0.8,
    },
    ["floor", "ours:simplified"],
    { kind: "mix", bytes: 48 * megabyte * load, chunk: 65_536 },
    rounds,
  );

export const streamLarge = ({ rounds, peers }: Size): Promise<Figure> =>
  stream(
    { name: "sse.large", what: "one event of 8 MiB in chunks of 16 KiB", reach: 1.2 },
    ["floor", "ours:all", ...only(peers, readers)],
    { kind: "large", bytes: 8 * 1024 * 1024, chunk: 16_384 },
    rounds,
  );

const askers = ["openai", "@anthropic-ai/sdk", "@cursor/sdk", "@octokit/rest", "ky"];

async function request(
  figure: Pick<Figure, "name" | "what" | "reach">,
  { rounds, peers }: Size,
  total: number,
  width: number,
): Promise<Figure> {
  return withServer({}, async (port) => {
    const contenders = ["floor", "ours", ...only(peers, askers)];
    const results = await takeTurns(contenders, rounds, async (contender): Promise<Timed> => {
      const flags = contender === "@cursor/sdk" ? { CURSOR_BACKEND_URL: `http://127.0.0.1:${port}` } : {};
      const timed = await run("request", [contender, port, total, width], [], flags);
      return { ...timed, count: total };
    });
    const us = ({ cpu, count }: Timed) => (cpu * 1000) / count;
    return { ...figure, rounds, ...rowsOf(results, us, "µs", wallNote) };
  });
}

export const requestOne = (size: Size): Promise<Figure> =>
  request(
    { name: "request", what: "GET of 600 bytes with auth and timeout, one after the other", reach: 1.1 },
    size,
    3000 * size.load,
    1,
  );

export const requestMany = (size: Size): Promise<Figure> =>
  request({ name: "request.c50", what: "the same, 50 at once", reach: 1.15 }, size, 8000 * size.load, 50);

const memoryUnit = "MB growth";

export const memoryStream = ({ rounds, load }: Size): Promise<Figure> =>
  withServer({ streamBytes: 500 * megabyte * load }, async (port) => {
    const way = (contender: string) => run("memory", [`stream:${contender}`, port, ""], ["--expose-gc"]);
    const results = await takeTurns(["floor", "ours"], rounds, way);
    const what = `growth of the process over ${500 * load} MB of a stream`;
    return {
      name: "memory.stream",
      what,
      reach: 1.2,
      rounds,
      ...rowsOf(results, ({ growth }) => growth, memoryUnit),
    };
  });

export const memoryDownload = ({ rounds, load }: Size): Promise<Figure> =>
  withServer({ artifactBytes: 1000 * megabyte * load }, async (port) => {
    const file = join(scratch, "large.bin");
    const way = (contender: string) => run("memory", [`download:${contender}`, port, file], ["--expose-gc"]);
    const results = await takeTurns(["floor", "ours"], rounds, way);
    const what = `growth of the process over an artifact of ${1000 * load} MB to disk`;
    return {
      name: "memory.download",
      what,
      reach: 1.2,
      rounds,
      ...rowsOf(results, ({ growth }) => growth, memoryUnit),
    };
  });

export const idle = ({ rounds, load, peers }: Size): Promise<Figure> =>
  withServer({}, async (port) => {
    const total = 500 * Math.max(load, 0.2);
    const contenders = ["floor", "ours", ...only(peers, ["openai", "@anthropic-ai/sdk"])];
    const results = await takeTurns(contenders, rounds, (contender) =>
      run("idle", [contender, port, total], ["--expose-gc"]),
    );
    const what = `heap of each of ${total} open, silent streams`;
    return { name: "streams.idle", what, reach: 1.5, rounds, ...rowsOf(results, ({ heap }) => heap, "KiB") };
  });

export async function firstEvent({ rounds }: Size): Promise<Figure> {
  const results = await takeTurns(
    ["floor", "ours"],
    rounds,
    (contender): Promise<{ late: number; us: number }> => run("first-event", [contender, 2000]),
  );
  const note = (own: { late: number }[]) =>
    `${own.reduce((sum, { late }) => sum + late, 0)} of ${2000 * rounds} in a later macrotask`;
  const { floor, rows } = rowsOf(results, ({ us }) => us, "µs", note);
  const late = results.get("ours")!.reduce((sum, own) => sum + own.late, 0);
  // The promise is the macrotask; microseconds within it are told beside.
  const what = `from a chunk's arrival to its event: macrotasks later (floor ${floor.value.toFixed(1)} µs, ours ${rows[1]!.value.toFixed(1)} µs)`;
  return {
    name: "first.event",
    what,
    reach: 0,
    rounds,
    rows: [{ contender: "ours", value: late, unit: "late", note: rows[1]!.note! }],
  };
}
