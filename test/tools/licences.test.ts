import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { isAgreed, productionFolders } from "./licences.ts";

it.each([
  "MIT",
  "ISC",
  "0BSD",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "Apache-2.0",
  "(MIT OR GPL-3.0-only)",
  "MIT AND ISC",
])("%s is agreed", (licence) => {
  expect(isAgreed(licence)).toBe(true);
});

it.each([
  ...["GPL-3.0-only", "AGPL-3.0", "UNLICENSED", "SEE LICENSE IN LICENSE", "MIT AND GPL-3.0-only", "mit", ""],
  ...["(MIT OR ISC) AND GPL-3.0-only", "GPL-3.0-only OR LGPL-3.0-only", undefined, { type: "MIT" }],
])("%s is not", (licence) => {
  expect(isAgreed(licence)).toBe(false);
});

it("production is what the package brings to its users, nothing of its development", () => {
  const folders = productionFolders(JSON.parse(readFileSync("package-lock.json", "utf8")));
  expect(folders.sort()).toEqual(
    ["eventsource-parser", "is-network-error", "openapi-fetch", "openapi-typescript-helpers", "p-retry"].map(
      (name) => `node_modules/${name}`,
    ),
  );
});
