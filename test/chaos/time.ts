import type { ManualClock } from "cursor-cloud-agents/emulator";

/**
 * Counts what happens on the sockets. The clock of a world moves only when nothing does: loopback delivers within the
 * system call that sends, so some turns of the event loop without an event mean that everybody is waiting for time to pass.
 */
export class Activity {
  count = 0;

  readonly note = (): void => {
    this.count++;
  };
}

/** Turns of the event loop without an event after which all is quiet. */
const quietTurns = 12;
/** Real milliseconds with nothing to wait for, after which the promise will never settle. */
const patience = 1_000;
/** No world lives through so many timers. */
const maxJumps = 20_000;

export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Lets the time of a world pass, from timer to timer and only in quiet moments, until the promise settles. */
export async function live<T>(promise: Promise<T>, clock: ManualClock, activity: Activity): Promise<T> {
  let settled = false;
  const mark = () => {
    settled = true;
  };
  promise.then(mark, mark);
  let deadline = Date.now() + patience;
  for (let jumps = 0; ; jumps++) {
    await quiet(activity, () => settled);
    if (settled) return promise;
    if (jumps > maxJumps) throw new Error(`unsettled after ${maxJumps} timers`);
    if (await clock.next()) deadline = Date.now() + patience;
    else if (Date.now() > deadline) throw new Error("nothing is left that could settle it");
  }
}

/** Until nothing has happened for a while. */
export async function quiet(activity: Activity, isOver: () => boolean = () => false): Promise<void> {
  let seen = activity.count;
  for (let turns = 0; turns < quietTurns && !isOver(); turns++) {
    await turn();
    if (activity.count === seen) continue;
    seen = activity.count;
    turns = -1;
  }
}
