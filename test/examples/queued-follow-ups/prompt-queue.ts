import type { Cursor, Prompt, TerminalRun } from "cursor-cloud-agents";

/**
 * Prompts for agents, one after another for each agent, side by side for different ones. An agent that is busy with
 * somebody else's run is waited for. A prompt that fails is the failure of its own caller; the next one goes on.
 *
 * It lives in this process: where several send prompts to one agent, each waits for its turn, but in no common order.
 */
export class PromptQueue {
  readonly #cursor: Cursor;
  /** The end of each agent's queue; never rejects. */
  readonly #ends = new Map<string, Promise<unknown>>();

  constructor(cursor: Cursor) {
    this.#cursor = cursor;
  }

  /** Agents that have something in hand or waiting. */
  get agents(): string[] {
    return [...this.#ends.keys()];
  }

  /** Adds a prompt to an agent's queue; settles when its run is over. An aborted one gives up its place. */
  add(agentId: string, prompt: string | Prompt, signal?: AbortSignal): Promise<TerminalRun> {
    const before = this.#ends.get(agentId) ?? Promise.resolve();
    const turn = before.then(async () => {
      signal?.throwIfAborted();
      const run = await this.#cursor.runs.create(agentId, { prompt }, { whenBusy: "wait", signal });
      return this.#cursor.runs.wait(run, { signal });
    });
    const end = turn
      .catch(() => {}) // its caller's to hear of
      .then(() => {
        if (this.#ends.get(agentId) === end) this.#ends.delete(agentId);
      });
    this.#ends.set(agentId, end);
    return turn;
  }
}
