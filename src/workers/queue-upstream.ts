import { QueueLoop, type QueueSource } from "./queue-loop.ts";
import { QueueView } from "./queue-view.ts";

/** One who looks at the view. */
export interface QueueMember {
  /** The first listing is in the view. */
  onSynced(): void;
  onRetry(info: { attempt: number; reason: unknown }): void;
  /** The server refuses for good. */
  onFailure(error: unknown): void;
}

/** What all watches of one filter share: the view, and the loop that keeps it current. */
export class QueueUpstream {
  readonly view = new QueueView();
  isSynced = false;
  isOver = false;
  onOver: () => void = () => {};
  readonly #source: QueueSource;
  readonly #members = new Set<QueueMember>();
  readonly #controller = new AbortController();

  constructor(source: QueueSource) {
    this.#source = source;
  }

  /** The first member sets the loop going. */
  join(member: QueueMember): void {
    this.#members.add(member);
    if (this.#members.size > 1) return;
    this.#run().catch((error: unknown) => {
      if (this.isOver) return;
      this.#end();
      for (const other of this.#members) other.onFailure(error);
    });
  }

  /** The last member to leave ends the loop, and with it whatever it is at. */
  leave(member: QueueMember): void {
    if (this.#members.delete(member) && this.#members.size === 0) this.#end();
  }

  #end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#controller.abort();
    this.onOver();
  }

  async #run(): Promise<void> {
    await undefined; // whoever joins with an aborted signal has left after this, and nothing is sent
    const loop = new QueueLoop(
      this.view,
      this.#source,
      this.#controller.signal,
      () => this.#synced(),
      (info) => {
        for (const member of this.#members) member.onRetry(info);
      },
    );
    await loop.run();
  }

  #synced(): void {
    if (this.isSynced) return;
    this.isSynced = true;
    for (const member of this.#members) member.onSynced();
  }
}
