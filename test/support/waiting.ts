// Ways to wait for what the code under test does.

/** What a call rejects with. */
export const failure = (call: PromiseLike<unknown>) =>
  Promise.resolve(call).then(
    (value) => {
      throw new Error(`did not fail, but gave ${JSON.stringify(value)}`);
    },
    // biome-ignore lint/suspicious/noExplicitAny: tests look into errors of every class
    (error: any) => error,
  );

/** Everything that an iterable delivers, once it has ended. */
export async function collect<T>(events: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** Lets all work that is under way in memory finish; no timer fires. */
export async function settle(turns = 10): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Waits for a condition that depends on sockets, in real time. */
export async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + 2_000;
  while (!condition()) {
    if (Date.now() > end) throw new Error("the condition did not become true within 2 seconds");
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
