// What the programs of this folder measure, each in a process of its own.

/** Bytes that are really in use; needs --expose-gc. */
export async function memory(): Promise<number> {
  const gc = (globalThis as { gc?: () => void }).gc;
  if (!gc) throw new Error("start this with --expose-gc");
  for (let round = 0; round < 3; round++) {
    await new Promise(setImmediate); // finalizers run between turns
    gc();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** What keeps the process alive, its own pipes aside. */
export const resources = (): string[] =>
  process.getActiveResourcesInfo().filter((name) => !["PipeWrap", "TTYWrap", "Immediate"].includes(name));

/** What is left: timers at once, sockets when those that were just opened or closed have had a while. */
export async function settledResources(): Promise<string[]> {
  for (let turn = 0; turn < 200 && resources().length > 0; turn++) await new Promise(setImmediate);
  const timers = resources().filter((name) => name === "Timeout");
  const pause = () => new Promise((resolve) => setTimeout(resolve, 5));
  for (let round = 0; round < 600 && resources().length > timers.length; round++) await pause();
  return [...timers, ...resources().filter((name) => name !== "Timeout")];
}

export const say = (word: unknown): void => {
  process.stdout.write(`${JSON.stringify(word)}\n`);
};

/** How a promise ended, in one word of JSON. */
export const ending = (promise: Promise<unknown>): Promise<Record<string, unknown>> =>
  promise.then(
    () => ({ kind: "fine" }),
    (error) =>
      typeof error === "object" && error !== null && "kind" in error
        ? { kind: error.kind, code: error.code, reason: error.reason, status: error.status }
        : { kind: "foreign", name: String((error as Error)?.name ?? error) },
  );
