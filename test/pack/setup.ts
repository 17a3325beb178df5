import type { TestProject } from "vitest/node";
import { installPackedPackage, type PackedPackage } from "../support/packed-package.ts";
import { run } from "../support/run-command.ts";

declare module "vitest" {
  interface ProvidedContext extends Omit<PackedPackage, "remove"> {}
}

export default async function setup({ provide }: TestProject): Promise<() => void> {
  await run("npm", ["ci", "--ignore-scripts", "--prefer-offline"], import.meta.dirname);
  const { remove, ...packed } = await installPackedPackage();
  for (const [name, value] of Object.entries(packed)) provide(name as keyof typeof packed, value as never);
  return remove;
}
