import { type Clock, follow } from "../clock.ts";
import type { Redactor } from "./redact.ts";

/** One attempt's state: nothing of it outlives the attempt, so a late failure can't touch a newer one. */
export interface Connection {
  readonly signal: AbortSignal;
  readonly redactor: Redactor;
  readonly timeout: number;
  phase: "connect" | "body";
  timedOut: boolean;
  isSent: boolean;
  /** The answer is an error whose body did not come whole. */
  isTorn: boolean;
  method: string;
  path: string;
  target?: URL;
  /** Held, so that its signal, which the one that is sent follows, lives as long as the attempt. */
  request?: Request;
  abort(): void;
  release(): void;
  /** Ends the timeout. */
  stop(): void;
}

/** Begins an attempt that follows the caller's signal and ends after `timeout` milliseconds. */
export function beginConnection(
  clock: Clock,
  timeout: number,
  signal: AbortSignal | undefined,
  redactor: Redactor,
): Connection {
  const controller = follow(signal);
  const timer =
    timeout === Number.POSITIVE_INFINITY
      ? undefined
      : clock.setTimeout(() => {
          if (controller.signal.aborted) return;
          connection.timedOut = true;
          controller.abort();
        }, timeout);
  const connection: Connection = {
    signal: controller.signal,
    redactor,
    timeout,
    phase: "connect",
    timedOut: false,
    isSent: false,
    isTorn: false,
    method: "request",
    path: "",
    abort: () => controller.abort(),
    release: () => controller.release(),
    stop: () => timer !== undefined && clock.clearTimeout(timer),
  };
  return connection;
}
