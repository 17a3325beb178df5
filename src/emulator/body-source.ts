/** What a body does next. `event` marks the bytes as one whole SSE frame, for faults that count events. */
export type BodyStep =
  | { kind: "bytes"; bytes: Uint8Array; event?: boolean }
  | { kind: "end" }
  /** The connection is destroyed; `clean`: it is ended as if the body were complete. */
  | { kind: "cut"; clean: boolean };

/**
 * A response body that is read, never pushed: nothing is made before it is asked for, so a slow reader costs no memory.
 * After `end`, `cut` or `close` no more steps follow.
 */
export interface BodySource {
  next(): Promise<BodyStep>;
  /** The reader has left: frees timers and subscriptions, and lets a waiting `next` end. */
  close(): void;
}

const encoder = new TextEncoder();

/** UTF-8 bytes of a text. */
export function toBytes(text: string): Uint8Array {
  return encoder.encode(text);
}

/** A body of known bytes, given out in slices of 64 KiB at most. */
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

/** Cuts a body at a point, counted in bytes or in whole SSE frames; `stall` leaves the socket open in silence instead. */
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
      // The connection stays open (and counted) until its reader goes away.
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

/** Tells `onEnd`, once, all bytes that were given out, when the body is over in whichever way; `cut`: it was destroyed. */
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

/** 32 hex digits that change with the content (four FNV-1a runs): an ETag, and good enough to notice a tampered URL. */
export function fingerprint(bytes: Uint8Array): string {
  let digest = "";
  for (let seed = 0; seed < 4; seed++) {
    let hash = (0x811c9dc5 ^ (seed * 0x9e3779b1)) >>> 0;
    for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
    digest += hash.toString(16).padStart(8, "0");
  }
  return digest;
}
