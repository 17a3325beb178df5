import { execFile } from "node:child_process";

/** How a command ended, and what it said. */
export interface Ended {
  status: number;
  stdout: string;
  stderr: string;
}

/** Runs a command to its end, whatever that is. */
export function runAnyway(command: string, args: string[], cwd: string): Promise<Ended> {
  // As at a user's: not as a part of the command that runs the tests.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_|VITEST)/.test(name)),
  );
  const options = { cwd, env, encoding: "utf8", timeout: 110_000, maxBuffer: 64 * 1024 * 1024 } as const;
  return new Promise((resolve, reject) => {
    execFile(command, args, options, (error, stdout, stderr) => {
      if (error && typeof error.code !== "number") reject(error);
      else resolve({ status: error ? Number(error.code) : 0, stdout, stderr });
    });
  });
}

/** Runs a command and gives what it printed; throws with all of it when it fails. */
export async function run(command: string, args: string[], cwd: string): Promise<string> {
  const { status, stdout, stderr } = await runAnyway(command, args, cwd);
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} -> ${status}\n${stdout}\n${stderr}`);
  return stdout;
}
