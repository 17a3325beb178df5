import type { TestProject } from "vitest/node";
import { installPackages } from "../support/install-packages.ts";
import { installPackedPackage, type PackedPackage } from "../support/packed-package.ts";

declare module "vitest" {
  interface ProvidedContext extends Omit<PackedPackage, "remove"> {}
}

export default async function setup({ provide }: TestProject): Promise<() => void> {
  await installPackages("pack");
  const { remove, ...packed } = await installPackedPackage();
  for (const [name, value] of Object.entries(packed)) provide(name as keyof typeof packed, value as never);
  return remove;
}
