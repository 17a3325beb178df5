import type { RunStream, RunStreamInclude } from "cursor-cloud-agents";
import { describe, expect, it } from "vitest";
import { CUT, END, failedResponse, STALL } from "../support/fake-api.ts";
import {
  assistant,
  brief,
  briefly,
  done,
  result,
  status,
  thinking,
  tool,
  update,
} from "../support/frames.ts";
import { ref } from "../support/sample-run.ts";
import { StreamServer } from "../support/stream-server.ts";
import { collect } from "../support/waiting.ts";

const ending = result() + done;
const frames = [
  status(),
  assistant("100-0", "Hel"),
  thinking("100-5", "hm"),
  assistant("101-0", "lo"),
  ending,
];
const all = [
  "status RUNNING",
  "assistant#100-0 Hel",
  "thinking#100-5 hm",
  "assistant#101-0 lo",
  "result#900-0 Hello",
  "done#900-0",
];
const whole = () => new StreamServer(() => END(...frames));

async function read<T>(stream: ReadableStream<T>): Promise<T[]> {
  const items: T[] = [];
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) items.push(next.value);
  return items;
}

describe("a stream", () => {
  it("sends nothing before it is read, and knows its run at once", async () => {
    const server = whole();
    const stream = server.cursor().runs.stream(ref);
    const web = stream.toReadableStream();
    expect(stream.ref).toEqual(ref);
    expect(stream.lastEventId).toBeUndefined();
    await server.clock.advance(1_000);
    expect(server.requests).toHaveLength(0);
    expect(briefly(await read(web))).toEqual(all);
  });

  it("can be read twice at once: two connections, each with everything once", async () => {
    const server = whole();
    const stream = server.cursor().runs.stream(ref);
    const [one, other] = await server.run(Promise.all([collect(stream), collect(stream)]));
    expect(briefly(one)).toEqual(all);
    expect(other).toEqual(one);
    expect((await stream.result()).streamedText).toBe("Hello");
    expect(server.requests).toHaveLength(2);
  });

  it("of another run has that run's text alone", async () => {
    const second = "run-00000000-0000-0000-0000-000000000002";
    const server = new StreamServer(({ path }) =>
      END(assistant("1", path.includes(second) ? "two" : "one"), ending),
    );
    const { runs } = server.cursor();
    const first = runs.stream(ref);
    const late = runs.stream({ ...ref, id: second });
    const outcomes = await server.run(
      Promise.all([first.result(), late.result(), collect(late.text()), collect(late.text())]),
    );
    expect(outcomes.map((one) => ("streamedText" in one ? one.streamedText : one.join()))).toEqual([
      "one",
      "two",
      "two",
      "two",
    ]);
  });

  it("answers several next() at once in order", async () => {
    const server = new StreamServer([CUT(...frames.slice(0, 2)), END(...frames.slice(2))]);
    const iterator = server.cursor().runs.stream(ref)[Symbol.asyncIterator]();
    const nexts = Array.from({ length: all.length + 2 }, () => iterator.next());
    const items = await server.run(Promise.all(nexts));
    expect(items.map(({ value }) => value && brief(value))).toEqual([...all, undefined, undefined]);
    expect(items.map(({ done }) => done)).toEqual([...all.map(() => false), true, true]);
  });

  it("that is closed ends its readers, whether they wait, work or have yet to begin", async () => {
    const server = new StreamServer(() => STALL(...frames.slice(0, 4)));
    const stream = server.cursor().runs.stream(ref);
    const seen: string[] = [];
    await server.run(
      (async () => {
        for await (const event of stream) {
          seen.push(brief(event));
          stream.close();
        }
      })(),
    );
    expect(seen).toEqual(["status RUNNING"]);
    expect(await server.run(collect(stream))).toEqual([]);
    expect(await server.run(collect(stream.text()))).toEqual([]);
    expect(await server.run(read(stream.toReadableStream()))).toEqual([]);
    expect(server.requests).toHaveLength(1);
    expect(server.openBodies).toBe(0);
    expect(server.clock.pending).toBe(0);
  });

  it("that is closed while a reader waits ends it at once", async () => {
    const server = new StreamServer([STALL(status())]);
    const stream = server.cursor().runs.stream(ref);
    const reading = collect(stream);
    await server.clock.advance(5);
    stream.close();
    expect(briefly(await reading)).toEqual(["status RUNNING"]);
    expect(server.clock.pending).toBe(0);
  });

  it("rejects arguments that can't work, before anything is sent", () => {
    const { runs } = whole().cursor();
    const open = (options: object) => () => runs.stream(ref, options);
    expect(open({ include: "everything" })).toThrow(expect.objectContaining({ argument: "include" }));
    expect(open({ from: "" })).toThrow(expect.objectContaining({ argument: "from" }));
    expect(open({ from: 7 })).toThrow(expect.objectContaining({ argument: "from" }));
    const broken = { ...ref, agentId: ref.agentId, runId: ref.id, lastEventId: "1\r2" };
    for (const from of ["1\n2", broken, { ...broken, lastEventId: "1", completedEventId: "0\n" }]) {
      expect(open({ from })).toThrow(expect.objectContaining({ argument: "from" }));
    }
    expect(open({ from: { agentId: ref.agentId, runId: "run-other" } })).toThrow(/another run/);
    expect(open({ idleTimeout: 0 })).toThrow(expect.objectContaining({ argument: "idleTimeout" }));
    expect(open({ maxReconnects: -1 })).toThrow(expect.objectContaining({ argument: "maxReconnects" }));
    expect(open({ maxEventBytes: Number.NaN })).toThrow(
      expect.objectContaining({ argument: "maxEventBytes" }),
    );
    expect(open({ signal: {} })).toThrow(expect.objectContaining({ argument: "signal" }));
    expect(() => runs.stream({ agentId: ref.agentId, id: "" })).toThrow(
      expect.objectContaining({ kind: "argument" }),
    );
  });
});

describe("the options of a stream", () => {
  it("are copied in the call, a checkpoint in them included", async () => {
    const server = new StreamServer([END(...frames.slice(3))]);
    const from = { agentId: ref.agentId, runId: ref.id, lastEventId: "100-5" };
    const options = { from, include: "simplified" as RunStreamInclude };
    const stream = server.cursor().runs.stream(ref, options);
    from.lastEventId = "999-9";
    options.include = "interaction";
    expect(briefly(await server.run(collect(stream)))).toEqual(all.slice(3));
    expect(server.positions).toEqual(["100-5"]);
  });

  it("are checked in the call, those of its requests included", () => {
    const { runs } = whole().cursor();
    for (const [argument, options] of Object.entries({
      timeout: { timeout: 0 },
      headers: { headers: { "a b": "c" } },
      retries: { retries: 1 },
    })) {
      expect(() => runs.stream(ref, {}, options)).toThrow(expect.objectContaining({ argument }));
    }
  });
});

describe("text()", () => {
  it("is the reply's pieces, untouched and once in every mode", async () => {
    const pieces = ["Hello", " ", "\n", "world", ""];
    const body = pieces.map(
      (text, index) => assistant(`${index}`, text) + update(`${index}`, { type: "text-delta", text }),
    );
    for (const include of ["simplified", "interaction", "all"] as const) {
      const server = new StreamServer([
        CUT(...body.slice(0, 3)),
        END(...body.slice(3), tool("8", "c", "running"), ending),
      ]);
      expect(await server.run(collect(server.cursor().runs.stream(ref, { include }).text()))).toEqual(pieces);
    }
  });

  it("fails where the stream does", async () => {
    const server = new StreamServer([failedResponse(403, "plan_required")]);
    await expect(collect(server.cursor().runs.stream(ref).text())).rejects.toMatchObject({
      code: "plan_required",
    });
  });
});

describe("toReadableStream()", () => {
  it("reads nothing ahead: the checkpoint is its consumer's position", async () => {
    const server = whole();
    const stream = server.cursor().runs.stream(ref);
    const reader = stream.toReadableStream().getReader();
    for (const position of [undefined, "100-0", "100-5", "101-0"]) {
      await reader.read();
      await server.clock.advance(1);
      expect(stream.checkpoint().lastEventId).toBe(position);
    }
    await reader.cancel();
  });

  it("passes a failure on", async () => {
    const server = new StreamServer([failedResponse(404, "run_not_found")]);
    await expect(read(server.cursor().runs.stream(ref).toReadableStream())).rejects.toMatchObject({
      status: 404,
    });
  });

  it("cancelled while a pull is pending ends the connection", async () => {
    const server = new StreamServer([STALL(status())]);
    const reader = server.cursor().runs.stream(ref).toReadableStream().getReader();
    await reader.read();
    const pending = reader.read();
    await server.clock.advance(5);
    await reader.cancel("no more");
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(server.openBodies).toBe(0);
    expect(server.clock.pending).toBe(0);
  });

  it("cancelled while events arrive ignores them, in a hundred interleavings", async () => {
    for (let ticks = 0; ticks < 100; ticks++) {
      const server = new StreamServer(() => END(...frames.slice(0, 1), frames.slice(1).join("")));
      const reader = server.cursor().runs.stream(ref).toReadableStream().getReader();
      void reader.read();
      void reader.read();
      void reader.read();
      for (let tick = 0; tick < ticks; tick++) await undefined;
      await reader.cancel();
      await server.clock.advance(0);
      expect(server.openBodies).toBe(0);
    }
  });
});

describe("however a stream is used, no rejection stays unhandled", () => {
  const ways: [string, (stream: RunStream) => unknown][] = [
    ["result() is called and dropped", (stream) => void stream.result()],
    ["result() is called twice, one listened to", (stream) => [stream.result(), stream.result()][1]],
    ["it is iterated", (stream) => collect(stream)],
    ["it is iterated beside a dropped result()", (stream) => [stream.result(), collect(stream)][1]],
    ["it is iterated, then closed", (stream) => collect(stream).finally(() => stream.close())],
    ["its text is read", (stream) => collect(stream.text())],
    ["its web stream is read", (stream) => read(stream.toReadableStream())],
    ["its web stream is opened and forgotten", (stream) => void stream.toReadableStream()],
    ["it is closed under a dropped result()", (stream) => [stream.result(), stream.close()][1]],
    [
      "it is left, beside a dropped result()",
      async (stream) => {
        void stream.result();
        for await (const _event of stream) break;
      },
    ],
    ["nothing at all is done with it", () => {}],
  ];
  const servers = {
    refused: () => new StreamServer(() => failedResponse(403, "plan_required"), { runs: ["RUNNING"] }),
    lost: () => new StreamServer(() => END(status()), { runs: ["RUNNING"] }),
    failing: () =>
      new StreamServer(() => END(status()), { runs: () => failedResponse(404, "run_not_found") }),
  };

  it.each(ways)("%s", async (_name, use) => {
    for (const make of Object.values(servers)) {
      const server = make();
      const controller = new AbortController();
      const stream = server.cursor().runs.stream(ref, { maxReconnects: 4, signal: controller.signal });
      const settled = Promise.resolve(use(stream)).catch(() => {});
      await server.clock.advance(600_000);
      controller.abort();
      await settled;
      await new Promise((resolve) => setImmediate(resolve));
      expect(server.clock.pending).toBe(0);
    }
  });
});
