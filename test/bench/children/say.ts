/** What the parent asks for. */
export const args: unknown[] = process.argv.slice(2).map((text) => JSON.parse(text));

/** One line of JSON for the parent. */
export const say = (word: unknown): void => {
  process.stdout.write(`${JSON.stringify(word)}\n`);
};

/** Heap in use once all garbage is gone; needs --expose-gc. */
export async function settledHeap(): Promise<number> {
  const gc = (globalThis as { gc?: () => void }).gc;
  if (!gc) throw new Error("start this with --expose-gc");
  for (let round = 0; round < 5; round++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    gc();
  }
  return process.memoryUsage().heapUsed;
}
