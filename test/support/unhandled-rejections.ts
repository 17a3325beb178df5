/**
 * A rejection or an exception that nobody handled fails the test during which it happened. The runner would only fail the
 * run, without saying which test it was.
 */
import { afterAll, afterEach, beforeAll, expect } from "vitest";

const unhandled: unknown[] = [];
const note = (reason: unknown): void => void unhandled.push(reason);

beforeAll(() => void process.on("unhandledRejection", note).on("uncaughtException", note));
afterAll(() => void process.off("unhandledRejection", note).off("uncaughtException", note));

afterEach(async () => {
  // The platform reports a rejection after the microtasks of the turn in which it happened.
  await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled.splice(0), "unhandled rejections").toEqual([]);
});
