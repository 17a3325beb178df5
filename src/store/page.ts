import { type Clock, systemClock } from "../async.ts";

// What the store asks of the page it runs in. Elsewhere (a server, Electron's main process) the answers are: no events,
// visible, online, no frames.

interface Page {
  addEventListener?(type: string, listener: () => void): void;
  removeEventListener?(type: string, listener: () => void): void;
  requestAnimationFrame?(callback: () => void): number;
  cancelAnimationFrame?(handle: number): void;
  document?: { visibilityState?: string };
  navigator?: { onLine?: boolean };
}

const page = globalThis as Page;

/** Listens to events of the window, to which those of the document bubble up. Returns a function that stops listening. */
export function onPage(types: readonly string[], listener: () => void): () => void {
  for (const type of types) page.addEventListener?.(type, listener);
  return () => {
    for (const type of types) page.removeEventListener?.(type, listener);
  };
}

/** Events that may be the last ones of a page. */
export const leaving = ["pagehide", "visibilitychange"];

/** Events after which time may have passed unnoticed, or the network may be back. */
export const waking = ["online", "pageshow", "resume", "visibilitychange"];

export const isHidden = (): boolean => page.document?.visibilityState === "hidden";

export const isOffline = (): boolean => page.navigator?.onLine === false;

/** Calls back once, soon; returns a function that cancels the call. */
export type Schedule = (callback: () => void) => () => void;

/** Milliseconds of a frame at 60 Hz. */
const frameTime = 16;
/** Milliseconds after which a frame counts as lost: a page that draws frames at all needs less. */
const lostFrameTime = 100;

/** Calls back at the next frame of a visible page; elsewhere by a timer, since a hidden page draws no frames. */
export function frameSchedule(clock: Clock = systemClock): Schedule {
  return (callback) => {
    const { requestAnimationFrame, cancelAnimationFrame } = page;
    const isDrawn = requestAnimationFrame !== undefined && !isHidden();
    const run = () => {
      cancel();
      callback();
    };
    const handle = isDrawn ? requestAnimationFrame.call(globalThis, run) : undefined;
    // A timer beside the frame, too, since the page may be hidden before the frame is drawn.
    const timer = clock.setTimeout(run, isDrawn ? lostFrameTime : frameTime);
    const cancel = () => {
      clock.clearTimeout(timer);
      if (handle !== undefined) cancelAnimationFrame?.call(globalThis, handle);
    };
    return cancel;
  };
}
