import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, inject, it, onTestFinished, vi } from "vitest";
import { run, runAnyway } from "../support/run-command.ts";

const project = inject("project");
const entryPoints = inject("entryPoints");
const runs = (script: string, ...flags: string[]) =>
  run(process.execPath, [...flags, "--eval", script], project);

interface Tree {
  /** Absent from a peer that isn't installed. */
  version?: string;
  dependencies?: Record<string, Tree>;
}

describe("an installation with --ignore-scripts", () => {
  let installed: { name: string; folder: string; manifest: Record<string, unknown> }[] = [];

  beforeAll(() => {
    const { packages } = JSON.parse(
      readFileSync(join(project, "node_modules/.package-lock.json"), "utf8"),
    ) as {
      packages: Record<string, object>;
    };
    installed = Object.keys(packages).map((path) => {
      const folder = join(project, path);
      const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      return { name: manifest.name, folder, manifest };
    });
  });

  it("brings the three dependencies, and what they bring", async () => {
    const tree = JSON.parse(await run("npm", ["ls", "--omit=dev", "--all", "--json"], project)) as Tree;
    const names = ({ dependencies = {} }: Tree): string[] =>
      Object.entries(dependencies).flatMap(([name, below]) => (below.version ? [name, ...names(below)] : []));
    const brought = new Set(names(tree.dependencies!["cursor-cloud-agents"]!));
    expect([...brought].sort()).toEqual([
      "eventsource-parser",
      "is-network-error",
      "openapi-fetch",
      "openapi-typescript-helpers",
      "p-retry",
    ]);
  });

  it("has no package that wants to run a script, or is more than JavaScript", () => {
    expect(installed.length).toBe(7);
    const lifecycle = ["preinstall", "install", "postinstall"];
    for (const { name, folder, manifest } of installed) {
      const {
        scripts = {},
        gypfile,
        optionalDependencies,
      } = manifest as {
        scripts?: Record<string, string>;
        gypfile?: boolean;
        optionalDependencies?: object;
      };
      expect([name, lifecycle.filter((script) => scripts[script]), gypfile, optionalDependencies]).toEqual([
        name,
        [],
        undefined,
        undefined,
      ]);
      const native = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
        /\.(node|wasm|gyp|so|dll|dylib|exe)$/.test(path),
      );
      expect(native).toEqual([]);
    }
  });

  it.each(entryPoints)("%s can be imported, and required", async (entryPoint) => {
    const path = JSON.stringify(entryPoint);
    const imported = await runs(
      `import(${path}).then((module) => console.log(JSON.stringify(Object.keys(module))))`,
    );
    const required = await runs(
      `console.log(JSON.stringify(Object.keys(require(${path}))))`,
      "--input-type=commonjs",
    );
    const names = (text: string) =>
      (JSON.parse(text) as string[])
        .filter((name) => name !== "__esModule" && name !== "module.exports")
        .sort();
    expect(names(imported).length).toBeGreaterThan(0);
    expect(names(required)).toEqual(names(imported));
  });
});

describe("a command of the package", () => {
  const { bin = {}, version } = JSON.parse(
    readFileSync(join(project, "node_modules/cursor-cloud-agents/package.json"), "utf8"),
  ) as { bin?: Record<string, string>; version: string };

  it("runs as it is installed", async () => {
    for (const command of Object.keys(bin)) {
      const said = await run(join(project, "node_modules/.bin", command), ["--version"], project);
      expect([command, said]).toEqual([command, expect.stringContaining(version)]);
    }
  });

  it("serves the emulator in one terminal, and runs an agent on it in another", async () => {
    const program = join(project, "node_modules/.bin/cursor-agents");
    const emulator = spawn(program, ["emulator", "--pace", "0"], { cwd: project, stdio: "pipe" });
    onTestFinished(() => void emulator.kill("SIGKILL"));
    const [url, key] = await new Promise<string[]>((resolve, reject) => {
      let said = "";
      emulator.stdout.setEncoding("utf8").on("data", (text) => {
        said += text;
        const found = /^export CURSOR_BASE_URL=(\S+)\nexport CURSOR_API_KEY=(\S+)\n/.exec(said);
        if (found) resolve(found.slice(1));
      });
      emulator.once("exit", () => reject(new Error(`it ended, and said ${said}`)));
    });
    vi.stubEnv("CURSOR_API_KEY", key);
    const argv = ["run", "Add a README", "--repo", "your-org/your-repo", "--base-url", url!];
    const { status, stdout, stderr } = await runAnyway(program, argv, project);
    vi.unstubAllEnvs();
    expect([status, stdout]).toEqual([0, expect.stringContaining("Add a README")]);
    expect(stderr).toMatch(/\nFINISHED/);
    emulator.kill("SIGINT");
    expect(await new Promise((resolve) => emulator.once("exit", resolve))).toBe(0);
  });
});

describe("two copies of the package in one process", () => {
  it("know each other's errors, by class and by guard", async () => {
    const told = await runs(
      `
      const one = require("cursor-cloud-agents");
      const two = require("second-copy");
      const error = new two.ApiError("m", { status: 409, method: "POST", path: "/v1/agents", code: "agent_busy" });
      const kinds = Object.keys(one).filter((name) => /Error$/.test(name) && one[name].isInstance);
      console.log(JSON.stringify({
        sameClass: one.ApiError === two.ApiError,
        instanceOf: error instanceof one.ApiError,
        isInstance: one.ApiError.isInstance(error) && one.CursorError.isInstance(error),
        guards: one.isCursorError(error) && one.isApiError(error, "agent_busy"),
        otherCode: one.isApiError(error, "agent_archived"),
        otherKinds: kinds.filter((name) => one[name].isInstance(error)),
        other: one.isCursorError(new Error("m")),
      }));
    `,
      "--input-type=commonjs",
    );
    expect(JSON.parse(told)).toEqual({
      sameClass: false,
      instanceOf: false,
      isInstance: true,
      guards: true,
      otherCode: false,
      otherKinds: ["ApiError", "CursorError"],
      other: false,
    });
  });
});
