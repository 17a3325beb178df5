// @vitest-environment happy-dom
// biome-ignore-all lint/correctness/noComponentHookFactories: each component belongs to its test, and is made once in it

import { ManualClock } from "cursor-cloud-agents/emulator";
import { type UseRunOptions, type UseRunResult, useRun } from "cursor-cloud-agents/react";
import {
  createRunStore,
  memoryStorage,
  type RouteSourceOptions,
  type RunPart,
  type RunSource,
  routeSource,
} from "cursor-cloud-agents/store";
import { act, Component, Fragment, memo, type ReactNode, StrictMode, Suspense, use } from "react";
import { createRoot, hydrateRoot } from "react-dom/client";
import { renderToString } from "react-dom/server";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { manualFrames, playedSource, result, status, text, tool } from "../store/support.ts";
import { page } from "../support/page.ts";
import { settle } from "../support/waiting.ts";

Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true });

const cleanups: (() => void)[] = [];
let errors: unknown[][] = [];
beforeEach(() => {
  errors = [];
  vi.spyOn(console, "error").mockImplementation((...given) => void errors.push(given));
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await act(async () => cleanup());
  vi.restoreAllMocks();
  expect(errors).toEqual([]);
});

/** The renderer's types know another DOM than happy-dom's. */
const element = () =>
  page.document.createElement("div") as unknown as Element & { innerHTML: string; textContent: string };

/** A page whose frames and timers are moved by hand. */
function stage() {
  const clock = new ManualClock();
  const frames = manualFrames();
  const container = element();
  const root = createRoot(container, { onUncaughtError: (error) => errors.push(["uncaught", error]) });
  cleanups.push(() => root.unmount());
  return {
    clock,
    frames,
    container,
    options: { clock, schedule: frames.schedule },
    render: (node: ReactNode) => act(async () => root.render(node)),
    unmount: () => act(async () => root.unmount()),
    /** What is sent arrives, and a frame is drawn. */
    arrive: (send: () => void) =>
      act(async () => {
        send();
        await settle();
        frames.draw();
      }),
    tick: () => act(() => clock.advance(0)),
  };
}

function View({ options }: { options: UseRunOptions }) {
  const { status, text, connection, error } = useRun(options);
  return `${status} ${connection} [${text}]${error ? ` ${error.message}` : ""}`;
}

describe("a component that uses a run", () => {
  it("shows it as it grows, from a source", async () => {
    const { render, container, arrive, options } = stage();
    const source = playedSource("run-1");
    await render(<View options={{ source, ...options }} />);
    expect(container.textContent).toBe("submitted connecting []");
    await arrive(() => source.now.send(status(), text("1", "Hel")));
    expect(container.textContent).toBe("streaming open [Hel]");
    await arrive(() => source.now.send(text("2", "lo"), result()));
    expect(container.textContent).toBe("ready closed [Hello]");
  });

  it("opens exactly one connection in strict mode, whatever React mounts twice", async () => {
    const { render, tick, container, arrive, options } = stage();
    const source = playedSource("run-1");
    await render(
      <StrictMode>
        <View options={{ source, ...options }} />
      </StrictMode>,
    );
    await tick();
    expect(source.readings).toHaveLength(1);
    expect(source.now.signal.aborted).toBe(false);
    await arrive(() => source.now.send(text("1", "x")));
    expect(container.textContent).toBe("streaming open [x]");
  });

  it("shares a store with others: one connection, each text once in each", async () => {
    const { render, container, arrive, options } = stage();
    const source = playedSource("run-1");
    const store = createRunStore(source, options);
    function Both() {
      return [useRun(store).text, useRun(store, (run) => run.text.length)].join("|");
    }
    await render(
      <StrictMode>
        <Both />
        <View options={{ store }} />
      </StrictMode>,
    );
    await arrive(() => source.now.send(text("1", "one")));
    expect(container.textContent).toBe("one|3streaming open [one]");
    expect(source.readings).toHaveLength(1);
  });

  it("renders once a frame however many events come", async () => {
    const { render, arrive, options } = stage();
    const source = playedSource("run-1");
    let renders = 0;
    function Counted() {
      renders++;
      return useRun({ source, ...options }).text;
    }
    await render(<Counted />);
    const before = renders;
    await arrive(() =>
      source.now.send(...Array.from({ length: 1_000 }, (_, index) => text(`${index}`, "x"))),
    );
    expect(renders).toBe(before + 1);
  });

  it("renders anew only the row whose part changed", async () => {
    const { render, arrive, options } = stage();
    const source = playedSource("run-1");
    const rows: string[] = [];
    const Row = memo(function Row({ part }: { part: RunPart }) {
      rows.push(part.id);
      return null;
    });
    function List() {
      return useRun({ source, ...options }).parts.map((part) => <Row key={part.id} part={part} />);
    }
    await render(<List />);
    await arrive(() => source.now.send(text("1", "a"), tool("2", "t", "running"), text("3", "b")));
    expect(rows.splice(0)).toEqual(["text-0", "tool-t", "text-2"]);
    await arrive(() => source.now.send(text("4", "c")));
    expect(rows.splice(0)).toEqual(["text-2"]);
    await arrive(() => source.now.send(tool("5", "t", "completed")));
    expect(rows.splice(0)).toEqual(["tool-t"]);
  });

  it("renders only when what it selected changed, also for a selector made anew each time", async () => {
    const { render, arrive, options } = stage();
    const source = playedSource("run-1");
    const store = createRunStore(source, options);
    let renders = 0;
    const seen: unknown[] = [];
    function Word() {
      renders++;
      seen.push(useRun(store, (run) => run.status));
      return null;
    }
    function List() {
      return useRun(store, (run) => run.parts.filter((part) => part.type === "tool")).length;
    }
    await render([<Word key="a" />, <List key="b" />]);
    await arrive(() => source.now.send(text("1", "a")));
    const before = renders;
    await arrive(() => source.now.send(text("2", "b")));
    await arrive(() => source.now.send(text("3", "c")));
    expect(renders).toBe(before);
    await arrive(() => source.now.send(result()));
    expect(seen.at(-1)).toBe("ready");
  });

  it("keeps its connection and store over renders with new options of the same key", async () => {
    const { render, arrive, tick, container, options } = stage();
    const source = playedSource("run-1");
    const again = (...given: Parameters<RunSource>) => source(...given);
    const inline = () =>
      Object.assign((...given: Parameters<RunSource>) => again(...given), { key: "run-1" });
    await render(<View options={{ source: inline(), ...options }} />);
    await arrive(() => source.now.send(text("1", "a")));
    await render(<View options={{ source: inline(), ...options }} />);
    await tick();
    expect(source.readings).toHaveLength(1);
    expect(container.textContent).toBe("streaming open [a]");
  });

  it("turns to another run: starts empty, and leaves the first", async () => {
    const { render, arrive, tick, container, options } = stage();
    const first = playedSource("run-1");
    const second = playedSource("run-2");
    await render(<View options={{ source: first, ...options }} />);
    await arrive(() => first.now.send(text("1", "one")));
    const shown: (string | null)[] = [];
    const observer = new page.MutationObserver(() => shown.push(container.textContent));
    observer.observe(container as never, { characterData: true, subtree: true, childList: true });
    await render(<View options={{ source: second, ...options }} />);
    await tick();
    observer.disconnect();
    expect(container.textContent).toBe("submitted connecting []");
    expect(shown.filter((value) => value?.includes("one"))).toEqual([]);
    expect(first.now.signal.aborted).toBe(true);
    await arrive(() => {
      first.now.send(text("2", "late"));
      second.now.send(text("1", "two"));
    });
    expect(container.textContent).toBe("streaming open [two]");
  });

  it("turns from one store to another", async () => {
    const { render, arrive, tick, container, options } = stage();
    const sources = [playedSource("run-1"), playedSource("run-2")];
    const stores = sources.map((source) => createRunStore(source, options));
    for (const [index, store] of stores.entries()) {
      await render(<View options={{ store }} />);
      await tick();
      await arrive(() => sources[index]!.now.send(text("1", `text ${index}`)));
      expect(container.textContent).toBe(`streaming open [text ${index}]`);
    }
    expect(sources.map((source) => source.now.signal.aborted)).toEqual([true, false]);
  });

  it("disconnects when it is unmounted, and asks for nothing else", async () => {
    const { render, unmount, tick, options } = stage();
    const source = playedSource("run-1");
    await render(<View options={{ source, ...options }} />);
    await unmount();
    expect(source.now.signal.aborted).toBe(false);
    await tick();
    expect(source.now.signal.aborted).toBe(true);
    expect(source.readings).toHaveLength(1);
  });

  it("has stable start, stop and resume", async () => {
    const { render, arrive, options, container } = stage();
    const source = playedSource("run-1");
    const seen = new Set<unknown>();
    let run!: UseRunResult;
    function Buttons() {
      run = useRun({ source, autoStart: false, ...options });
      seen.add(run.start).add(run.stop).add(run.resume);
      return `${run.status} [${run.text}]`;
    }
    await render(<Buttons />);
    expect(container.textContent).toBe("ready []");
    await act(async () => run.start());
    await arrive(() => source.now.send(text("1", "a")));
    await act(async () => run.stop());
    expect(container.textContent).toBe("ready [a]");
    await act(async () => run.resume());
    await arrive(() => source.now.send(text("2", "b")));
    expect(container.textContent).toBe("streaming [ab]");
    expect(source.readings.map(({ position }) => position)).toEqual([undefined, "1"]);
    expect(seen.size).toBe(3);
  });

  it("calls the latest handlers, once each", async () => {
    const { render, arrive, options } = stage();
    const source = playedSource("run-1");
    const told: string[] = [];
    let resume = () => {};
    function Telling({ name }: { name: string }) {
      resume = useRun({
        source,
        ...options,
        onFinish: ({ status }) => told.push(`${name} finish ${status}`),
        onError: ({ message }) => told.push(`${name} error ${message}`),
      }).resume;
      return null;
    }
    await render(
      <StrictMode>
        <Telling name="old" />
      </StrictMode>,
    );
    await render(
      <StrictMode>
        <Telling name="new" />
      </StrictMode>,
    );
    await arrive(() => source.now.send(text("1", "a")));
    await arrive(() => source.now.fail(new Error("gone")));
    await act(async () => resume());
    await arrive(() => source.now.send(result()));
    expect(told).toEqual(["new error gone", "new finish FINISHED"]);
  });

  it("doesn't call onFinish for a run that was over at the first render", async () => {
    const { render, arrive, options, container } = stage();
    const storage = memoryStorage();
    const source = playedSource("run-1");
    await render(<View key="1" options={{ source, storage, ...options }} />);
    await arrive(() => source.now.send(text("1", "a"), result()));
    const onFinish = vi.fn();
    await render(<View key="2" options={{ source, storage, onFinish, ...options }} />);
    expect(container.textContent).toBe("ready closed [a]");
    expect(onFinish).not.toHaveBeenCalled();
  });
});

/** A route whose first connection breaks off when it is told to; it notes the header of each request. */
function tokenRoute() {
  const tokens: (string | null)[] = [];
  const positions: (string | null)[] = [];
  let end = () => {};
  const answer = (body: string | ReadableStream) =>
    new Response(body as never, { headers: { "content-type": "text/event-stream" } }) as never;
  const fetch = async (_: unknown, init: { headers: Headers }) => {
    tokens.push(init.headers.get("x-token"));
    positions.push(init.headers.get("last-event-id"));
    const frames = (...sent: object[]) => sent.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("");
    if (tokens.length > 1) return answer(`id: 2\n${frames(text("2", "lo"), result())}`);
    return answer(
      new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode(`id: 1\n${frames(text("1", "Hel"))}`));
          end = () => controller.close();
        },
      }) as never,
    );
  };
  return { tokens, positions, fetch: fetch as unknown as RouteSourceOptions["fetch"], end: () => end() };
}

describe("what a render passes lasts until the next one", () => {
  const forms: [string, (token: string) => RouteSourceOptions["headers"]][] = [
    ["a function", (token) => () => ({ "x-token": token })],
    ["an async function", (token) => async () => ({ "x-token": token })],
    ["an object", (token) => ({ "x-token": token })],
  ];
  for (const isStrict of [false, true]) {
    it.each(forms)(
      `the headers of a route, as %s${isStrict ? ", in strict mode" : ""}`,
      async (_, headers) => {
        const { render, clock, arrive, tick, container, options } = stage();
        const route = tokenRoute();
        function Page({ token }: { token: string }) {
          const source = routeSource("/run", {
            headers: headers(token),
            fetch: route.fetch,
            clock,
            random: () => 0,
          });
          const { text } = useRun({ source, ...options });
          return `[${text}]`;
        }
        const Root = isStrict ? StrictMode : Fragment;
        await render(
          <Root>
            <Page token="old" />
          </Root>,
        );
        await tick();
        await arrive(() => {});
        expect(container.textContent).toBe("[Hel]");
        await render(
          <Root>
            <Page token="new" />
          </Root>,
        );
        await arrive(() => {});
        expect(route.tokens).toEqual(["old"]);
        await arrive(() => route.end());
        await act(() => clock.advance(2_000));
        await arrive(() => {});
        expect(route.tokens).toEqual(["old", "new"]);
        expect(route.positions).toEqual([null, "1"]);
        expect(container.textContent).toBe("[Hello]");
      },
    );
  }

  it("the URL, where a key of its own identifies the run", async () => {
    const { render, clock, arrive, options } = stage();
    const route = tokenRoute();
    const urls: string[] = [];
    const fetch: RouteSourceOptions["fetch"] = (url, init) => {
      urls.push(String(url));
      return route.fetch!(url, init);
    };
    const source = (token: string) => routeSource(`/run?token=${token}`, { fetch, clock, random: () => 0 });
    await render(<View options={{ source: source("old"), key: "run-1", ...options }} />);
    await arrive(() => {});
    await render(<View options={{ source: source("new"), key: "run-1", ...options }} />);
    await arrive(() => route.end());
    await act(() => clock.advance(2_000));
    expect(urls).toEqual(["/run?token=old", "/run?token=new"]);
  });

  it("the fetch", async () => {
    const { render, clock, arrive, options } = stage();
    const route = tokenRoute();
    const used: string[] = [];
    const source = (name: string) =>
      routeSource("/run", {
        fetch: (url, init) => {
          used.push(name);
          return route.fetch!(url, init);
        },
        clock,
        random: () => 0,
      });
    await render(<View options={{ source: source("old"), ...options }} />);
    await arrive(() => {});
    await render(<View options={{ source: source("new"), ...options }} />);
    await arrive(() => route.end());
    await act(() => clock.advance(2_000));
    expect(used).toEqual(["old", "new"]);
  });

  it("a source of another kind, at its next reading", async () => {
    const { render, arrive, options } = stage();
    const [old, next] = [playedSource("run-1"), playedSource("run-1")];
    let resume = () => {};
    function Page({ source }: { source: RunSource }) {
      ({ resume } = useRun({ source, ...options }));
      return null;
    }
    await render(<Page source={old} />);
    await arrive(() => old.now.send(text("1", "a")));
    await render(<Page source={next} />);
    await arrive(() => old.now.fail(new Error("gone")));
    expect(next.readings).toHaveLength(0);
    await act(async () => resume());
    expect(old.readings).toHaveLength(1);
    expect(next.readings.map(({ position }) => position)).toEqual(["1"]);
  });

  it("the storage, the schedule and whether to start", async () => {
    const { render, clock, arrive, options, container } = stage();
    const source = playedSource("run-1");
    const storages = [memoryStorage(), memoryStorage()];
    const schedule = (callback: () => void) => {
      queueMicrotask(callback);
      return () => {};
    };
    const first = { source, ...options, storage: storages[0], autoStart: false };
    await render(<View options={first} />);
    expect(source.readings).toHaveLength(0);
    await render(<View options={{ ...first, storage: storages[1], schedule, autoStart: true }} />);
    expect(source.readings).toHaveLength(1);
    await act(async () => {
      source.now.send(text("1", "a"));
      await settle();
    });
    expect(container.textContent).toBe("streaming open [a]");
    await arrive(() => {});
    await act(() => clock.advance(1_000));
    expect(storages.map((storage) => typeof storage.get("run-1"))).toEqual(["undefined", "string"]);
  });
});

class Boundary extends Component<{ children: ReactNode }> {
  override state: { error?: Error } = {};
  static getDerivedStateFromError = (error: Error) => ({ error });
  override render() {
    return this.state.error ? `caught ${this.state.error.message}` : this.props.children;
  }
}

describe("an error", () => {
  it("is state", async () => {
    const { render, arrive, container, options } = stage();
    const source = playedSource("run-1");
    await render(<View options={{ source, ...options }} />);
    await arrive(() => source.now.fail(new Error("gone")));
    expect(container.textContent).toBe("error closed [] gone");
  });

  it("goes to the boundary with throwOnError, also where the selector leaves the error out", async () => {
    const { render, arrive, container, options } = stage();
    const sources = [playedSource("run-1"), playedSource("run-2")];
    function Whole({ source }: { source: RunSource }) {
      return useRun({ source, throwOnError: true, ...options }).text;
    }
    function Selecting({ source }: { source: RunSource }) {
      return useRun({ source, throwOnError: true, ...options }, () => "calm");
    }
    await render([
      <Boundary key="a">
        <Whole source={sources[0]!} />
      </Boundary>,
      <Boundary key="b">
        <Selecting source={sources[1]!} />
      </Boundary>,
    ]);
    expect(container.textContent).toBe("calm");
    await arrive(() => {
      for (const source of sources) source.now.fail(new Error("gone"));
    });
    expect(container.textContent).toBe("caught gonecaught gone");
    errors = errors.filter((given) => !String(given).includes("gone"));
  });
});

describe("on a server", () => {
  it("renders without connecting, and is hydrated to what the page had kept", async () => {
    const storage = memoryStorage();
    const first = playedSource("run-1");
    const store = createRunStore(first, { storage });
    store.start();
    first.now.send(text("1", "kept"));
    await settle();
    store.stop();

    const { options } = stage();
    const source = playedSource("run-1");
    const node = (
      <StrictMode>
        <View options={{ source, storage, ...options }} />
      </StrictMode>
    );
    const html = renderToString(node);
    expect(html).toBe("submitted connecting []");
    expect(source.readings).toHaveLength(0);
    const container = element();
    container.innerHTML = html;
    const recoverable: unknown[] = [];
    const root = await act(async () =>
      hydrateRoot(container, node, { onRecoverableError: (error) => recoverable.push(error) }),
    );
    cleanups.push(() => root.unmount());
    expect(recoverable).toEqual([]);
    expect(container.textContent).toBe("streaming connecting [kept]");
    expect(source.readings.map(({ position }) => position)).toEqual(["1"]);
  });

  it("and a component that waits for something else before it shows leaves no connection open", async () => {
    const { render, container, options } = stage();
    const source = playedSource("run-1");
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    function Waiting() {
      const { status } = useRun({ source, ...options });
      use(gate);
      return status;
    }
    await render(
      <Suspense fallback="wait">
        <Waiting />
      </Suspense>,
    );
    expect(container.textContent).toBe("wait");
    expect(source.readings).toHaveLength(0);
    await act(async () => open());
    expect(container.textContent).toBe("submitted");
    expect(source.readings).toHaveLength(1);
  });
});
