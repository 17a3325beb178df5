/**
 * `tsx test/tools/licences.ts`: what an installation brings along, or the build carries within: versions, licences, sizes. Fails on
 * a licence that isn't agreed. Needs `build`.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const agreed = ["MIT", "ISC", "0BSD", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0"];

/** Whether a licence, or an SPDX expression of several, lets us use the package on agreed terms. */
export function isAgreed(licence: unknown): boolean {
  if (typeof licence !== "string") return false;
  const expression = licence.trim().replace(/^\((.*)\)$/, "$1");
  // Mixed or nested expressions are for a person to read.
  if (/[()]/.test(expression) || (/ OR /.test(expression) && / AND /.test(expression))) return false;
  if (/ OR /.test(expression)) return expression.split(" OR ").some((one) => agreed.includes(one));
  return expression.split(" AND ").every((one) => agreed.includes(one));
}

/** The parts of a lock file that this is about. */
export interface LockFile {
  packages: Record<string, { dev?: boolean; optional?: boolean; peer?: boolean; devOptional?: boolean }>;
}

/** The folders that `npm install` of the package brings: not those for its development, nor the peers. */
export const productionFolders = ({ packages }: LockFile): string[] =>
  Object.entries(packages)
    .filter(([path, { dev, devOptional, peer }]) => path !== "" && !dev && !devOptional && !peer)
    .map(([path]) => path);

function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => !path.split(/[\\/]/).includes("node_modules"))
    .map((path) => statSync(join(folder, path)))
    .reduce((sum, entry) => sum + (entry.isFile() ? entry.size : 0), 0);
}

if (import.meta.filename === process.argv[1]) {
  const json = (path: string) => JSON.parse(readFileSync(path, "utf8"));
  const rows = [
    {
      name: json("package.json").name,
      version: json("package.json").version,
      licence: "MIT",
      size: sizeOf("dist"),
    },
    ...productionFolders(json("package-lock.json")).map((folder) => {
      const { name, version, license } = json(join(folder, "package.json"));
      return { name, version, licence: license, size: sizeOf(folder) };
    }),
  ];
  const bundled = "dist/THIRD-PARTY-LICENSES.txt";
  const within = existsSync(bundled)
    ? [...readFileSync(bundled, "utf8").matchAll(/^(\S+) (\S+) \((.+?)\), /gm)].map(
        ([, name, version, licence]) => ({
          name: `${name} (bundled)`,
          version,
          licence,
          size: undefined,
        }),
      )
    : [];
  if (existsSync(bundled) && within.length === 0)
    throw new Error(`${bundled} names nothing in its usual form`);
  const refused = [...rows, ...within].filter(({ licence }) => !isAgreed(licence));
  for (const { name, version, licence, size } of [...rows, ...within]) {
    const kilobytes = size === undefined ? "" : `${(size / 1000).toFixed(0)} kB`;
    console.log(
      `${name.padEnd(30)} ${String(version).padEnd(10)} ${String(licence).padEnd(14)} ${kilobytes.padStart(8)}`,
    );
  }
  const total = rows.reduce((sum, { size }) => sum + size, 0);
  console.log(
    `${rows.length} packages, ${(total / 1e6).toFixed(2)} MB; agreed licences: ${agreed.join(", ")}`,
  );
  for (const { name, licence } of refused) console.error(`${name}: the licence ${licence} is not agreed`);
  if (refused.length > 0) process.exit(1);
}
