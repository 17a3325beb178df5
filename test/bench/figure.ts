/** What was measured of one contender. */
export interface Row {
  contender: string;
  /** Against the floor of the same run; 1 is the floor itself. */
  ratio?: number;
  /** The figure itself, for reading: never to be compared across machines. */
  value: number;
  unit: string;
  /** What else is worth knowing. */
  note?: string;
}

/** A figure that was measured: of this package, and of whoever else took part. */
export interface Figure {
  name: string;
  what: string;
  /** What our row must not exceed: by its ratio where there is a floor, else by its value. */
  reach?: number;
  floor?: { value: number; unit: string };
  rounds: number;
  rows: Row[];
}

export const median = (values: number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
};

/** Lets all contenders take turns, a round at a time and each round in the other direction, after one that isn't counted. */
export async function takeTurns<T>(
  contenders: string[],
  rounds: number,
  measure: (contender: string) => Promise<T>,
): Promise<Map<string, T[]>> {
  const results = new Map(contenders.map((contender): [string, T[]] => [contender, []]));
  for (let round = 0; round <= rounds; round++) {
    const order = [...results.keys()];
    for (const contender of round % 2 === 0 ? order : order.reverse()) {
      try {
        const result = await measure(contender);
        if (round > 0) results.get(contender)!.push(result);
      } catch (error) {
        // A peer that can't do it is left out, and told of; the rest goes on.
        if (contender === "floor" || contender.startsWith("ours")) throw error;
        results.delete(contender);
        console.log(`${contender} is left out: ${String(error).slice(0, 1_000)}`);
      }
    }
  }
  return results;
}

/** Rows by the median of each round's own ratio: what disturbs a machine disturbs a round, not one contender. */
export function rowsOf<T>(
  results: Map<string, T[]>,
  read: (result: T) => number,
  unit: string,
  note?: (results: T[], floor: T[]) => string,
): { floor: { value: number; unit: string }; rows: Row[] } {
  const [floor] = results.values();
  if (!floor) throw new Error("a figure needs a floor");
  const rows = [...results].map(([contender, own]): Row => {
    const ratio = median(own.map((result, round) => read(result) / read(floor[round]!)));
    const text = note?.(own, floor);
    return { contender, ratio, value: median(own.map(read)), unit, ...(text ? { note: text } : {}) };
  });
  return { floor: { value: rows[0]!.value, unit }, rows };
}

const two = (value: number): string => value.toFixed(2);
const plain = (value: number): string =>
  value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2);

/** Ours is every row by the name of `ours…`; the rest are the floor and peers. */
const isOurs = ({ contender }: Row): boolean => contender.startsWith("ours");

export const measured = ({ ratio, value }: Row): number => ratio ?? value;

export const isMet = ({ reach, rows }: Figure): boolean =>
  reach === undefined || rows.filter(isOurs).every((row) => Number(two(measured(row))) <= reach);

export function table(head: string[], lines: string[][]): string {
  const widths = head.map((_, column) =>
    Math.max(3, ...[head, ...lines].map((line) => line[column]!.length)),
  );
  const draw = (line: string[]) =>
    `| ${line.map((cell, column) => (column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))).join(" | ")} |`;
  const rule = `|${widths.map((width, column) => (column === 0 ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`)).join("|")}|`;
  return [draw(head), rule, ...lines.map(draw)].join("\n");
}

export function printFigure(figure: Figure): void {
  const { name, what, reach, floor, rounds, rows } = figure;
  console.log(`\n${name}: ${what}${rounds > 1 ? `; medians of ${rounds} rounds` : ""}`);
  const lines = rows.map((row) => [
    row.contender,
    row.ratio === undefined ? "-" : two(row.ratio),
    `${plain(row.value)} ${row.unit}`,
    row.note ?? "",
  ]);
  console.log(table(["contender", "ratio", "measured", "note"], lines));
  for (const row of rows.filter(isOurs)) {
    const label = rows.filter(isOurs).length > 1 ? `${name}:${row.contender}` : name;
    const line = { name: label, ratio: row.ratio ?? null, floor: floor?.value ?? null, rounds };
    console.log(
      JSON.stringify({ ...line, value: row.value, unit: row.unit, reach: reach ?? null, met: isMet(figure) }),
    );
  }
}

/** One line a figure. */
export function summaryOf(figures: Figure[]): string {
  const lines = figures.flatMap((figure) =>
    figure.rows
      .filter(isOurs)
      .map((row) => [
        figure.name,
        row.ratio === undefined ? `${plain(row.value)} ${row.unit}` : two(row.ratio),
        figure.reach === undefined ? "-" : `<= ${figure.reach}`,
        figure.reach === undefined ? "-" : isMet(figure) ? "yes" : "NO",
      ]),
  );
  return table(["figure", "ratio", "reach", "met"], lines);
}

/** One line a contender, one column a figure: for the peers. */
export function crossTable(figures: Figure[]): string {
  const names = [...new Set(figures.flatMap(({ rows }) => rows.map(({ contender }) => contender)))];
  const cell = ({ rows }: Figure, name: string) => {
    const row = rows.find(({ contender }) => contender === name);
    if (!row) return "-";
    return row.ratio === undefined ? `${plain(row.value)} ${row.unit}` : two(row.ratio);
  };
  return table(
    ["", ...figures.map(({ name }) => name)],
    names.map((name) => [name, ...figures.map((figure) => cell(figure, name))]),
  );
}
