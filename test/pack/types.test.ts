import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, it } from "vitest";
import { run, runAnyway } from "../support/run-command.ts";

// The types as users meet them: compilers, module systems, libs. What must not compile must fail with its own error, and
// nothing else may: a declaration that falls back to `any` fails nowhere, and is worth nothing.

const here = import.meta.dirname;
const project = inject("project");
const entryPoints = inject("entryPoints");

const compilers = ["typescript-5.4", "typescript-5.9", "typescript-7"];
/** Where the web's types come from: nothing at all, or one of those who have them. */
const platforms = {
  nowhere: { lib: ["es2022"], types: [] },
  "the DOM lib": { lib: ["es2022", "dom", "dom.iterable"], types: [] },
  "@types/node": { lib: ["es2022"], types: ["node"] },
  "@cloudflare/workers-types": { lib: ["es2022"], types: ["@cloudflare/workers-types"] },
};
type Platform = keyof typeof platforms;

/** What each project compiles, beside the check of all exports. Each line marked with an error's code must have it. */
const usage = (entry: "import" | "dynamic import") => `
${entry === "import" ? 'import { Cursor } from "cursor-cloud-agents";' : ""}
import type { CreateAgentParams, RequestOptions, RunEvent, RunStreamOptions } from "cursor-cloud-agents"${
  entry === "import" ? "" : ' with { "resolution-mode": "import" }'
};
type IsAny<T> = 0 extends 1 & T ? true : false;
export async function use(signal: NonNullable<RequestOptions["signal"]>) {
  ${entry === "import" ? "" : 'const { Cursor } = await import("cursor-cloud-agents");'}
  const n: number = new Cursor({ apiKey: "x" }); // TS2322
  const cursor = new Cursor({ apiKey: "x", middleware: [{ onRequest() {} }] });
  const params: CreateAgentParams = { prompt: { text: "x" }, repos: [{ url: "https://github.com/a/b" }] };
  const { agent, run } = await cursor.agents.create(params, { signal, maxRetries: 1 });
  const id: string = agent.id;
  const wrong: number = run.id; // TS2322
  const options: RunStreamOptions = { from: "1-0", include: "all" };
  for await (const event of cursor.runs.stream(run, options)) {
    if (event.type === "assistant") event.data.text.toUpperCase();
    const any: IsAny<typeof event> = false;
    if (any) return event satisfies RunEvent;
  }
  for await (const { name } of cursor.agents.list()) name?.toUpperCase();
  const { data, response } = await cursor.me().withResponse();
  const none: [IsAny<typeof data>, IsAny<typeof response>, IsAny<typeof signal>] = [false, false, false];
  const body: IsAny<Awaited<ReturnType<typeof cursor.artifacts.download>>["body"]> = false;
  cursor.agents.create({ prompt: 7 }); // TS2322
  return [n, id, wrong, none, body];
}
`;

let exportsChecked = "";
beforeAll(async () => {
  const listed = await run(
    process.execPath,
    [
      "--input-type=module",
      "--eval",
      `const all = {}; for (const path of ${JSON.stringify(entryPoints)}) all[path] = Object.keys(await import(path)); console.log(JSON.stringify(all))`,
    ],
    project,
  );
  const all = Object.entries(JSON.parse(listed) as Record<string, string[]>);
  exportsChecked = `type IsAny<T> = 0 extends 1 & T ? true : false;\n${all
    .map(([path], at) => `import * as m${at} from "${path}";`)
    .join("\n")}\nexport const all: false[] = [\n${all
    .flatMap(([, names], at) => names.map((name) => `  null! as IsAny<typeof m${at}.${name}>,`))
    .join("\n")}\n];\n`;
  expect(exportsChecked.match(/as IsAny/g)!.length).toBeGreaterThan(20);
});

/** A folder with an ESM and a CommonJS half, and what the compiler says of them, one `file:line code` per error. */
async function compile(
  compiler: string,
  name: string,
  options: object,
  commonJsEntry: "import" | "dynamic import" = "import",
): Promise<{ got: string[]; wanted: string[] }> {
  const folder = join(project, name.replace(/[^\w.]+/g, "-"));
  for (const type of ["module", "commonjs"]) {
    mkdirSync(join(folder, type), { recursive: true });
    writeFileSync(join(folder, type, "package.json"), JSON.stringify({ type }));
  }
  writeFileSync(join(folder, "module/usage.ts"), usage("import"));
  writeFileSync(join(folder, "module/exports.ts"), exportsChecked);
  writeFileSync(join(folder, "commonjs/usage.ts"), usage(commonJsEntry));
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        target: "es2022",
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        noEmit: true,
        typeRoots: [join(here, "node_modules/@types"), join(here, "node_modules")],
        ...options,
      },
      include: ["module", "commonjs"],
    }),
  );
  const bin = join(here, "node_modules", compiler, "bin/tsc");
  const { stdout } = await runAnyway(
    process.execPath,
    [bin, "--project", folder, "--pretty", "false"],
    project,
  );
  const got = stdout
    .split("\n")
    .filter((line) => /error TS/.test(line))
    .map((line) =>
      line.replace(/^.*?((?:module|commonjs)\/\w+\.ts)\((\d+),\d+\): error (TS\d+):.*$/, "$1:$2 $3"),
    );
  const wanted = ["commonjs/usage.ts", "module/usage.ts"].flatMap((path) =>
    readFileSync(join(folder, path), "utf8")
      .split("\n")
      .flatMap((line, at) => {
        const [, code] = /\/\/ (TS\d+)$/.exec(line) ?? [];
        return code ? [`${path}:${at + 1} ${code}`] : [];
      }),
  );
  return { got: got.sort(), wanted: wanted.sort() };
}

/** Before TypeScript 5.8, and in node16 for good, a CommonJS file has an ES module by import() alone. */
const entryOf = (compiler: string, module: string) =>
  module === "node16" || (module === "nodenext" && compiler === "typescript-5.4")
    ? "dynamic import"
    : "import";

// How the package is found depends on the module system, what its types need on the platform: not every pair of both.
const nowhere: Platform = "nowhere";
const pairs = [
  ...(Object.keys(platforms) as Platform[]).map((platform) => ({ module: "nodenext", platform })),
  { module: "esnext", platform: nowhere },
  { module: "esnext", platform: "the DOM lib" as Platform },
  { module: "node16", platform: nowhere },
].map((pair) => ({ ...pair, skipLibCheck: false }));
const unchecked = ["nodenext", "esnext", "node16"].map((module) => ({
  module,
  platform: nowhere,
  skipLibCheck: true,
}));
const cases = compilers.flatMap((compiler) =>
  [...pairs, ...unchecked].map((pair) => ({ compiler, ...pair })),
);

describe("in a project whose web types come from", () => {
  it.concurrent.each(
    cases.map(
      (one) =>
        [`${one.platform}: ${one.compiler}, ${one.module}, skipLibCheck ${one.skipLibCheck}`, one] as const,
    ),
  )("%s", async (name, { compiler, module, platform, skipLibCheck }) => {
    const resolution = module === "esnext" ? { moduleResolution: "bundler" } : {};
    const options = { module, ...resolution, ...platforms[platform], skipLibCheck };
    const { got, wanted } = await compile(compiler, name, options, entryOf(compiler, module));
    expect(wanted).toHaveLength(6);
    expect(got).toEqual(wanted);
  });
});

describe("a CommonJS file that can't import the package", () => {
  it.concurrent.each(["typescript-5.4", "typescript-7"])(
    "is told so by %s, and not given any",
    async (compiler) => {
      const options = { module: "node16", ...platforms["the DOM lib"], skipLibCheck: true };
      const { got } = await compile(compiler, `static-${compiler}`, options, "import");
      expect(got.filter((error) => error.startsWith("commonjs"))).toEqual(
        expect.arrayContaining([expect.stringMatching(/TS1479$/)]),
      );
    },
  );
});
