/** Named gates that scripts wait at. A released gate stays open, so a release before the wait is not lost. */
export class Gates {
  readonly #open = new Set<string>();
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Calls back when the gate is open; the answer stops the waiting. */
  wait(name: string, callback: () => void): () => void {
    if (this.#open.has(name)) {
      callback();
      return () => {};
    }
    const waiting = this.#waiting.get(name) ?? new Set();
    this.#waiting.set(name, waiting.add(callback));
    return () => waiting.delete(callback);
  }

  release(name: string): void {
    this.#open.add(name);
    const waiting = this.#waiting.get(name);
    this.#waiting.delete(name);
    for (const callback of waiting ?? []) callback();
  }

  reset(): void {
    this.#open.clear();
    this.#waiting.clear();
  }
}
