/** The next step of a body. `event` marks bytes that are one whole SSE frame, for faults that count events. */
export type BodyStep =
  | { kind: "bytes"; bytes: Uint8Array; event?: boolean }
  | { kind: "end" }
  /** The connection is destroyed, or (`clean`) ended as if the body were complete. */
  | { kind: "cut"; clean: boolean };

/**
 * A response body that the reader pulls. Nothing is produced before it is asked for, so a slow reader costs no memory.
 * After `end`, `cut` or `close` no more steps follow.
 */
export interface BodySource {
  next(): Promise<BodyStep>;
  /** The reader has closed the connection: frees timers and subscriptions, and lets a pending `next` resolve. */
  close(): void;
}

const encoder = new TextEncoder();

/** UTF-8 bytes of a text. */
export function toBytes(text: string): Uint8Array {
  return encoder.encode(text);
}

/** A body whose steps come over time: it waits until there is one, and ends once it is closed. @internal */
export abstract class PulledSource implements BodySource {
  #closed = false;
  #wake: () => void = () => {};

  /** The step that is due now; `undefined` if the reader has to wait. */
  protected abstract step(): BodyStep | undefined;

  /** Called once, when the body has ended or its reader has closed it. */
  protected abstract released(): void;

  async next(): Promise<BodyStep> {
    for (;;) {
      if (this.#closed) return { kind: "end" };
      const step = this.step();
      if (step !== undefined) {
        if (step.kind !== "bytes") this.close();
        return step;
      }
      await this.woken();
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.released();
    this.wake();
  }

  /** Lets a waiting reader look for its next step. */
  protected wake(): void {
    this.#wake();
  }

  /** Resolves when {@link PulledSource.wake} is called. */
  protected woken(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}

/** A body of known bytes, produced in slices of at most 64 KiB. */
export function bytesSource(bytes: Uint8Array, sliceSize = 65_536): BodySource {
  let offset = 0;
  return {
    next: async () => {
      if (offset >= bytes.length) return { kind: "end" };
      const slice = bytes.subarray(offset, offset + sliceSize);
      offset += slice.length;
      return { kind: "bytes", bytes: slice };
    },
    close: () => {
      offset = bytes.length;
    },
  };
}

/** Cuts a body at a point, counted in bytes or in whole SSE frames. `stall` keeps the socket open and silent instead. */
export function interruptedSource(
  source: BodySource,
  point: { afterBytes?: number; afterEvents?: number; stall: boolean; clean: boolean },
): BodySource {
  let bytesLeft = point.afterBytes ?? Number.POSITIVE_INFINITY;
  let eventsLeft = point.afterEvents ?? (point.afterBytes === undefined ? 0 : Number.POSITIVE_INFINITY);
  let leave: () => void = () => {};
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const interrupt = async (): Promise<BodyStep> => {
    if (point.stall) {
      // The connection stays open, and counts as open, until its reader closes it.
      await left;
      return { kind: "end" };
    }
    source.close();
    return { kind: "cut", clean: point.clean };
  };
  return {
    next: async () => {
      if (bytesLeft <= 0 || eventsLeft <= 0) return interrupt();
      const step = await source.next();
      if (step.kind !== "bytes") return step;
      const bytes = step.bytes.length > bytesLeft ? step.bytes.subarray(0, bytesLeft) : step.bytes;
      bytesLeft -= bytes.length;
      if (step.event === true) eventsLeft -= 1;
      return { ...step, bytes };
    },
    close: () => {
      leave();
      source.close();
    },
  };
}

/** Calls `onEnd` once with all bytes that were read, however the body ends. `cut`: the connection was destroyed. */
export function observedSource(
  source: BodySource,
  onEnd: (bytes: Uint8Array, cut: boolean) => void,
): BodySource {
  const chunks: Uint8Array[] = [];
  let over = false;
  const finish = (cut: boolean) => {
    if (over) return;
    over = true;
    onEnd(concatBytes(chunks), cut);
  };
  return {
    next: async () => {
      const step = await source.next();
      if (step.kind === "bytes") chunks.push(step.bytes);
      else finish(step.kind === "cut");
      return step;
    },
    close: () => {
      source.close();
      finish(false);
    },
  };
}

/** Joins chunks into one array. */
export function concatBytes(chunks: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}

/** 32 hex digits that change with the content (four FNV-1a hashes): enough for an ETag and to notice a changed URL. */
export function fingerprint(bytes: Uint8Array): string {
  let digest = "";
  for (let seed = 0; seed < 4; seed++) {
    let hash = (0x811c9dc5 ^ (seed * 0x9e3779b1)) >>> 0;
    for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
    digest += hash.toString(16).padStart(8, "0");
  }
  return digest;
}
