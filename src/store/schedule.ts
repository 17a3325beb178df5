import { type Clock, systemClock } from "../async.ts";
import { isHidden } from "./page-events.ts";

/** Calls back once, soon; returns what calls it off. */
export type Schedule = (callback: () => void) => () => void;

interface Frames {
  requestAnimationFrame?(callback: () => void): number;
  cancelAnimationFrame?(handle: number): void;
}

/** About one frame at 60 Hz. */
const frame = 16;
/** Longer than a page takes for a frame that it draws at all. */
const lostFrame = 100;

/** At the next frame of a page that is looked at; by a timer elsewhere, since a hidden page draws no frames. */
export function frameSchedule(clock: Clock = systemClock): Schedule {
  return (callback) => {
    const { requestAnimationFrame, cancelAnimationFrame } = globalThis as Frames;
    const isDrawn = requestAnimationFrame !== undefined && !isHidden();
    const run = () => {
      cancel();
      callback();
    };
    const handle = isDrawn ? requestAnimationFrame.call(globalThis, run) : undefined;
    // Beside a frame too: the page may be hidden before it comes.
    const timer = clock.setTimeout(run, isDrawn ? lostFrame : frame);
    const cancel = () => {
      clock.clearTimeout(timer);
      if (handle !== undefined) cancelAnimationFrame?.call(globalThis, handle);
    };
    return cancel;
  };
}
