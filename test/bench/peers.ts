// `npx tsx test/bench/peers.ts`: the same figures with the SDKs and stream readers that users know, in the versions of
// this folder's lock file, on Node 24 whatever runs this: some of them need it.
//   --only a,b   --rounds 5
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { here } from "./processes.ts";

const manifest = JSON.parse(readFileSync(join(here, "package.json"), "utf8")) as {
  dependencies: Record<string, string>;
};
const run = (file: string, args: string[], folder: string): void => {
  const { status, error } = spawnSync(file, args, { cwd: folder, stdio: "inherit" });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
};

// Not `npm ci`: where a registry lacks a peer's optional packages of other platforms, they can't be in the lock file.
run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts"], here);
const tsx = join(here, "../../node_modules/tsx/dist/cli.mjs");
const main = join(here, "main.ts");
const peers = Object.keys(manifest.dependencies).join();
run("npx", ["--yes", "node@24", tsx, main, "--peers", peers, ...process.argv.slice(2)], join(here, "../.."));
