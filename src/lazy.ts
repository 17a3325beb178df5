import { CursorError } from "./errors.ts";

/**
 * A part that is loaded at its first use, and once. What couldn't be loaded is tried again at the next: a file or a
 * network may be back by then.
 * @param name What the part is for, in the error where it can't be loaded
 */
export function lazy<T>(name: string, load: () => Promise<T>): () => Promise<T> {
  let part: Promise<T> | undefined;
  return () => {
    part ??= load().catch((cause: unknown) => {
      part = undefined;
      throw new CursorError(`the part of cursor-cloud-agents for ${name} could not be loaded`, { cause });
    });
    return part;
  };
}

/** The iterator of what is on its way; once that is here, nothing stands between it and its reader. */
export function later<Part, T>(
  opening: Promise<Part>,
  of: (part: Part) => AsyncIterable<T>,
): AsyncIterator<T, undefined> {
  let iterator: AsyncIterator<T, undefined> | undefined;
  // At once, not at the first `next`: whoever asks for the result beside it must find its reader.
  const opened = opening.then((part) => {
    iterator = of(part)[Symbol.asyncIterator]();
    return iterator;
  });
  opened.catch(() => {}); // the first `next` hears of it
  return {
    next: () => iterator?.next() ?? opened.then((it) => it.next()),
    return: async () => {
      await opened.then((it) => it.return?.());
      return { done: true, value: undefined };
    },
  };
}
