// @vitest-environment happy-dom
import { ManualClock } from "cursor-cloud-agents/emulator";
import { createRunStore, routeSource, webStorage } from "cursor-cloud-agents/store";
import { afterEach, describe, expect, it, vi } from "vitest";
import { frameSchedule } from "../../src/store/page.ts";
import { CUT, END, STALL, UNREACHABLE } from "../support/fake-api.ts";
import { dispatch, hide, page } from "../support/page.ts";
import { StreamServer } from "../support/stream-server.ts";
import { settle } from "../support/waiting.ts";
import { playedSource, text } from "./support.ts";

afterEach(() => {
  hide(false);
  page.sessionStorage.clear();
});

const url = "https://app.test/api/stream";
const piece = (id: string) => `id: ${id}\ndata: ${JSON.stringify(text(id, id))}\n\n`;
const last = `data: ${JSON.stringify({ type: "end", id: "end:1" })}\n\n`;

/** A clock that stands still for timers, as they do in a frozen page, but not for `now`. */
class FrozenClock extends ManualClock {
  slept = 0;
  override now(): number {
    return super.now() + this.slept;
  }
}

function watch(server: StreamServer) {
  const source = routeSource(url, { fetch: server.fetch, clock: server.clock, random: () => 0 });
  const store = createRunStore(source, { clock: server.clock });
  const leave = store.subscribe(() => {});
  return { store, leave };
}

describe("a page that comes back", () => {
  it.each(["online", "pageshow", "resume", "visibilitychange"])(
    "tries at once on %s, whatever the pause",
    async (event) => {
      const server = new StreamServer([UNREACHABLE, UNREACHABLE, END(piece("1"), last)]);
      const { store } = watch(server);
      await settle();
      expect(server.requests).toHaveLength(1);
      dispatch(event);
      await settle();
      dispatch(event);
      await settle();
      expect(server.requests).toHaveLength(3);
      expect(server.clock.now()).toBe(server.requests[0]!.at);
      await settle();
      expect(store.getSnapshot()).toMatchObject({ text: "1", status: "ready" });
      expect(server.clock.pending).toBe(0);
    },
  );

  it("reconnects if its connection died while it was frozen, and keeps a living one", async () => {
    const clock = new FrozenClock();
    const server = new StreamServer([STALL(piece("1")), STALL(piece("2"))], { clock });
    const { leave } = watch(server);
    await settle();
    clock.slept = 20_000;
    dispatch("resume");
    await settle();
    expect(server.requests).toHaveLength(1);
    clock.slept = 25_000;
    hide(true);
    dispatch("visibilitychange");
    await settle();
    expect(server.requests).toHaveLength(1);
    hide(false);
    dispatch("visibilitychange");
    await settle();
    expect(server.openBodies).toBe(0);
    await clock.advance(1_000);
    expect(server.positions).toEqual([undefined, "1"]);
    leave();
    await clock.advance(0);
    await settle();
    expect(clock.pending).toBe(0);
    expect(server.openBodies).toBe(0);
  });

  it("doesn't use up its reconnects while there is no network", async () => {
    const offline = vi.spyOn(page.navigator, "onLine", "get").mockReturnValue(false);
    const server = new StreamServer((_, index) => (index < 40 ? UNREACHABLE : END(last)));
    const { store } = watch(server);
    await server.clock.advance(40 * 60_000);
    offline.mockRestore();
    expect(store.getSnapshot().status).toBe("ready");
    expect(server.requests[40]!.at - server.requests[39]!.at).toBe(30_000);
  });

  it("leaves no listener behind once the run is over", async () => {
    const added = vi.spyOn(page, "addEventListener");
    const removed = vi.spyOn(page, "removeEventListener");
    const server = new StreamServer([CUT(piece("1")), UNREACHABLE, END(last)]);
    const { store } = watch(server);
    await server.clock.advance(10_000);
    expect(store.getSnapshot().status).toBe("ready");
    expect(added.mock.calls.length).toBeGreaterThan(0);
    const names = (calls: unknown[][]) => calls.map(([name]) => String(name)).sort();
    expect(names(removed.mock.calls)).toEqual(expect.arrayContaining(names(added.mock.calls)));
    expect(removed.mock.calls.length).toBeGreaterThanOrEqual(added.mock.calls.length);
    vi.restoreAllMocks();
  });
});

describe("a page that is left", () => {
  it.each(["pagehide", "visibilitychange"])("saves everything it received on %s", async (event) => {
    const source = playedSource("run-1");
    const store = createRunStore(source, { storage: webStorage("session"), clock: new ManualClock() });
    store.subscribe(() => {});
    source.now.send(text("1", "a"), text("2", "b"));
    await settle();
    expect(page.sessionStorage.length).toBe(0);
    dispatch(event);
    const again = playedSource("run-1");
    const reloaded = createRunStore(again, { storage: webStorage("session") });
    expect(reloaded.getSnapshot().text).toBe("ab");
    reloaded.start();
    expect(again.now.position).toBe("2");
    reloaded.stop();
    store.stop();
  });
});

/** A page whose frames are drawn by hand. */
function pageWithFrames() {
  const drawn = new Map<number, () => void>();
  let handle = 0;
  vi.stubGlobal("requestAnimationFrame", (callback: () => void) => {
    drawn.set(++handle, callback);
    return handle;
  });
  vi.stubGlobal("cancelAnimationFrame", (old: number) => drawn.delete(old));
  const draw = () => {
    for (const [old, callback] of [...drawn]) {
      drawn.delete(old);
      callback();
    }
  };
  return { drawn, draw };
}

describe("a change is published", () => {
  it("once, at the next frame of a visible page", async () => {
    const { draw } = pageWithFrames();
    const clock = new ManualClock();
    const told = vi.fn();
    frameSchedule(clock)(told);
    await clock.advance(50);
    expect(told).toHaveBeenCalledTimes(0);
    draw();
    expect(told).toHaveBeenCalledTimes(1);
    expect(clock.pending).toBe(0);
  });

  it("by a timer in a hidden page, which draws no frames", async () => {
    const { drawn } = pageWithFrames();
    hide(true);
    const clock = new ManualClock();
    const told = vi.fn();
    frameSchedule(clock)(told);
    expect(drawn.size).toBe(0);
    await clock.advance(16);
    expect(told).toHaveBeenCalledTimes(1);
  });

  it("by a timer where the page is hidden before its frame comes, and then not again", async () => {
    const { draw, drawn } = pageWithFrames();
    const clock = new ManualClock();
    const told = vi.fn();
    frameSchedule(clock)(told);
    hide(true);
    await clock.advance(100);
    expect(told).toHaveBeenCalledTimes(1);
    expect(drawn.size).toBe(0);
    draw();
    expect(told).toHaveBeenCalledTimes(1);
  });

  it("by a timer where there are no frames at all", async () => {
    vi.stubGlobal("requestAnimationFrame", undefined);
    const clock = new ManualClock();
    const told = vi.fn();
    frameSchedule(clock)(told);
    await clock.advance(16);
    expect(told).toHaveBeenCalledTimes(1);
  });

  it("never, once it is cancelled", async () => {
    const { draw } = pageWithFrames();
    const clock = new ManualClock();
    const told = vi.fn();
    frameSchedule(clock)(told)();
    draw();
    await clock.advance(1_000);
    expect(told).toHaveBeenCalledTimes(0);
  });
});
