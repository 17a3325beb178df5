import { expect, it } from "vitest";
import { lazy } from "../src/lazy.ts";

it("a part is loaded once, however many ask for it at once", async () => {
  let loads = 0;
  const part = lazy("tests", async () => ++loads);
  expect(await Promise.all([part(), part()])).toEqual([1, 1]);
  expect([await part(), loads]).toEqual([1, 1]);
});

it("a part that could not be loaded is an error of ours, and is tried again at its next use", async () => {
  const cause = new TypeError("Failed to fetch dynamically imported module");
  let loads = 0;
  const part = lazy("tests", async () => {
    if (++loads === 1) throw cause;
    return "here";
  });
  await expect(part()).rejects.toMatchObject({
    name: "CursorError",
    kind: "error",
    message: "the part of cursor-cloud-agents for tests could not be loaded",
    cause,
  });
  expect(await part()).toBe("here");
});
