import { orAbort } from "../clock.ts";

/** Work that several callers wait for. */
export interface Shared<T> {
  promise: Promise<T>;
  controller: AbortController;
  members: number;
}

/** Joins the work under `key`, or starts it. It goes on until it is done, or the last of its members has gone. */
export async function join<T>(
  works: Map<string, Shared<T>>,
  key: string,
  signal: AbortSignal | undefined,
  start: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  let work = works.get(key);
  if (!work) {
    const controller = new AbortController();
    const promise = start(controller.signal).finally(() => {
      if (works.get(key) === work) works.delete(key);
    });
    promise.catch(() => {}); // a member that left doesn't hear of a failure; nobody else should either
    work = { promise, controller, members: 0 };
    works.set(key, work);
  }
  work.members++;
  try {
    return await orAbort(work.promise, signal);
  } finally {
    if (--work.members === 0) {
      if (works.get(key) === work) works.delete(key);
      work.controller.abort();
    }
  }
}
