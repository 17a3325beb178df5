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
