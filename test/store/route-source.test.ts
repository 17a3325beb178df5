import {
  type ApiError,
  type ArgumentError,
  isApiError,
  isArgumentError,
  isStreamError,
} from "cursor-cloud-agents";
import { ManualClock } from "cursor-cloud-agents/emulator";
import { type RouteSourceOptions, routeSource, type ServedFrame } from "cursor-cloud-agents/store";
import { describe, expect, it } from "vitest";
import {
  byteByByte,
  type Connection,
  CUT,
  END,
  htmlPage,
  reply,
  SILENT,
  STALL,
  UNREACHABLE,
} from "../support/fake-api.ts";
import { StreamServer, type StreamServerOptions } from "../support/stream-server.ts";
import { settle } from "../support/waiting.ts";
import { done, end, failed, reset, result, status, text } from "./support.ts";

/** A frame as the page's server writes it. */
const message = (frame: ServedFrame): string => {
  const id = "id" in frame && frame.id !== undefined ? `id: ${frame.id}\n` : "";
  return `${id}data: ${JSON.stringify(frame)}\n\n`;
};
const messages = (...frames: ServedFrame[]): string => frames.map(message).join("");

const url = "https://app.test/api/stream";

/** Reads a route to its end. What it fails with is the last of `read`. */
async function read(
  connections: Connection[] | ((request: unknown, index: number) => Connection),
  options: RouteSourceOptions & StreamServerOptions & { from?: string; url?: string } = {},
) {
  const { from, url: address = url, deaf, ...rest } = options;
  const server = new StreamServer(connections, deaf ? { deaf } : {});
  const source = routeSource(address, {
    fetch: server.fetch,
    clock: server.clock,
    random: () => 0,
    ...rest,
  });
  const frames: ServedFrame[] = [];
  const reports: string[] = [];
  let error: unknown;
  const reading = (async () => {
    const { signal } = new AbortController();
    for await (const frame of source(from, signal, (connection) => reports.push(connection)))
      frames.push(frame);
  })();
  await server.run(reading).catch((reason) => {
    error = reason;
  });
  return { server, frames, reports, error, waits: waitsOf(server) };
}

/** Milliseconds between the requests. */
const waitsOf = ({ requests }: StreamServer) =>
  requests.slice(1).map(({ at }, index) => at - requests[index]!.at);

describe("a route is read", () => {
  it("to the end of the run, without keep-alives and unknown messages", async () => {
    const body = `retry: 2000\n: hi\n\n${messages(status(), text("1", "Hel"))}data: not json\n\ndata: 7\n\n: \n\n${messages(
      text("2", "lo"),
      result(),
      done,
      end,
    )}${message(text("3", "too late"))}`;
    const { frames, server, error, reports } = await read([END(body)]);
    expect(error).toBeUndefined();
    expect(frames).toEqual([status(), text("1", "Hel"), text("2", "lo"), result(), done, end]);
    expect(reports).toEqual(["open"]);
    expect(server.requests).toHaveLength(1);
    expect(server.openBodies).toBe(0);
    expect(server.clock.pending).toBe(0);
    expect(server.requests[0]!.headers.get("accept")).toBe("text/event-stream");
    expect(server.positions).toEqual([undefined]);
  });

  it("byte by byte as well", async () => {
    const { frames } = await read([END(...byteByByte(messages(text("1", "ü–🙂"), end)))]);
    expect(frames).toEqual([text("1", "ü–🙂"), end]);
  });

  it("from the store's position", async () => {
    const { server } = await read([END(message(end))], { from: "7-0" });
    expect(server.positions).toEqual(["7-0"]);
  });

  it("onwards from the last whole message when the connection breaks or ends", async () => {
    const half = message(text("3", "half")).slice(0, -4);
    const { frames, server, reports } = await read([
      CUT(message(text("1", "a"))),
      END(messages(status(), text("2", "b")), half),
      END(messages(text("3", "c"), end)),
    ]);
    expect(server.positions).toEqual([undefined, "1", "2"]);
    expect(frames.flatMap((frame) => (frame.type === "assistant" ? frame.data.text : []))).toEqual([
      "a",
      "b",
      "c",
    ]);
    expect(reports).toEqual(["open", "reconnecting", "open", "reconnecting", "open"]);
    expect(server.openBodies).toBe(0);
  });

  it("from the run's start after a `reset`, also when the connection breaks right after it", async () => {
    const { server, frames } = await read([CUT(message(reset)), END(messages(text("1", "a"), end))], {
      from: "old",
    });
    expect(server.positions).toEqual(["old", undefined]);
    expect(frames).toEqual([reset, text("1", "a"), end]);
  });

  it("no further after a 204: the run is over", async () => {
    let requests = 0;
    const source = routeSource(url, {
      fetch: async () => {
        requests++;
        return new Response(null, { status: 204 });
      },
    });
    const frames: ServedFrame[] = [];
    for await (const frame of source("7", new AbortController().signal, () => {})) frames.push(frame);
    expect(frames.map(({ type }) => type)).toEqual(["end"]);
    expect(requests).toBe(1);
  });

  it("no further after a final failure, and on after one that isn't", async () => {
    const final = await read([END(message(failed(true)))]);
    expect(final.frames).toEqual([failed(true)]);
    expect(final.error).toBeUndefined();
    const other = await read([END(messages(text("1", "a"), failed(false))), END(message(end))]);
    expect(other.frames).toEqual([text("1", "a"), end]);
    expect(other.server.positions).toEqual([undefined, "1"]);
  });
});

describe("the resume position", () => {
  it("is sent in the query if the option says so, or if a header can't hold it", async () => {
    const asked = await read([END(message(end))], { from: "7-0", position: "query", url: `${url}#part` });
    expect(asked.server.positions).toEqual([undefined]);
    const odd: string[] = [];
    const source = routeSource("https://app.test/stream?run=1", {
      fetch: async (address) => {
        odd.push(String(address));
        return new Response(null, { status: 204 });
      },
    });
    for await (const _ of source("é &", new AbortController().signal, () => {}));
    expect(odd).toEqual(["https://app.test/stream?run=1&lastEventId=%C3%A9%20%26"]);
  });
});

describe("what the page sends", () => {
  const headers: [string, [string, string][], RouteSourceOptions["headers"]][] = [
    ["a name in any case", [["authorization", "Bearer t"]], { AUTHORIZATION: "Bearer t" }],
    ["a Headers", [["authorization", "Bearer t"]], new Headers({ Authorization: "Bearer t" })],
    ["pairs", [["authorization", "Bearer t"]], [["Authorization", "Bearer t"]]],
    ["an undefined value, which is left out", [["x-a", "1"]], { "x-a": "1", authorization: undefined }],
    ["none", [], {}],
  ];
  for (const form of ["given", "returned by a function"]) {
    it.each(headers)(`includes the headers ${form}, as %s`, async (_, expected, given) => {
      const { server } = await read([END(message(end))], {
        headers: form === "given" ? given : () => given as Record<string, string>,
      });
      const sent = [...new Headers(server.requests[0]!.headers)].filter(([name]) => name !== "accept");
      expect(sent).toEqual(expected);
    });
  }

  it("is not repeated where a function returns headers that can't be sent", async () => {
    const { server, error } = await read([], { headers: () => ({ "x-a": "a\nb" }) });
    expect((error as ArgumentError)?.argument === "headers.x-a" && isArgumentError(error)).toBe(true);
    expect(server.requests).toHaveLength(0);
  });

  it("includes its headers, read before each request, and its cookies according to the option", async () => {
    const sent: [RequestInit, string | null][] = [];
    let token = 0;
    const clock = new ManualClock();
    const source = routeSource(url, {
      clock,
      credentials: "include",
      headers: async () => ({ authorization: `Bearer ${++token}` }),
      fetch: async (_, init) => {
        sent.push([init!, new Headers(init!.headers).get("authorization")]);
        return sent.length < 2 ? new Response("", { status: 503 }) : new Response(null, { status: 204 });
      },
    });
    const reading = (async () => {
      for await (const _ of source(undefined, new AbortController().signal, () => {}));
    })();
    await clock.run(reading);
    expect(sent.map(([, authorization]) => authorization)).toEqual(["Bearer 1", "Bearer 2"]);
    expect(sent[0]![0]).toMatchObject({ credentials: "include", cache: "no-store" });
  });
});

describe("a route that fails", () => {
  it.each([401, 403, 404, 400, 410])("is given up for good on %i", async (code) => {
    const { error, server } = await read([reply(code, { error: { code: "x", message: "secret" } })], {
      url: `${url}?token=abc`,
    });
    expect(error).toSatisfy(isApiError);
    expect(error).toMatchObject({ status: code, method: "GET", path: "/api/stream" } as Partial<ApiError>);
    expect(JSON.stringify([error, (error as Error).message])).not.toMatch(/abc|secret/);
    expect(server.requests).toHaveLength(1);
    expect(server.openBodies).toBe(0);
  });

  it("is given up for good on a page instead of a stream, such as a form to sign in", async () => {
    const { error, server } = await read([htmlPage(200, "<html>")]);
    expect(error).toMatchObject({ status: 200, code: "invalid_response" });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ["a refusal", { ...STALL("no"), status: 403 }],
    ["a page instead of a stream", { ...STALL("<html>"), headers: { "content-type": "text/html" } }],
  ])("isn't read on behind %s, also where fetch listens to no signal", async (_, connection) => {
    const { error, server } = await read([connection], { deaf: true });
    expect(error).toSatisfy(isApiError);
    expect(server.openBodies).toBe(0);
  });

  it.each([408, 425, 429, 500, 502, 503])("is asked again on %i", async (code) => {
    const { frames } = await read([htmlPage(code), END(message(end))]);
    expect(frames).toEqual([end]);
  });

  it("is asked again with growing pauses, and given up after eleven failed attempts", async () => {
    const { error, server, waits } = await read(() => UNREACHABLE);
    expect(server.requests).toHaveLength(11);
    expect(waits).toEqual([1, 2, 4, 8, 16, 30, 30, 30, 30, 30].map((seconds) => seconds * 1_000));
    expect(error).toSatisfy(isStreamError);
    expect(error).toMatchObject({
      reason: "disconnected",
      message: "GET /api/stream: gave up after 11 failed attempts",
    });
    expect((error as Error).cause).toBeInstanceOf(TypeError);
    expect(server.clock.pending).toBe(0);
  });

  it("is asked again after up to half a pause more, at random, so that pages don't return together", async () => {
    expect((await read([UNREACHABLE, END(message(end))], { random: () => 0.5 })).waits).toEqual([1_250]);
  });

  it.each(["0", "1", "499"])(
    "is never asked more often than twice a second, even if it says retry: %s",
    async (ms) => {
      let requests = 0;
      const { waits, server } = await read(() => {
        if (++requests > 100) return END(message(end));
        return END(`retry: ${ms}\n\n${message(text(`${requests}`, "x"))}`);
      });
      expect(server.requests).toHaveLength(101);
      expect(Math.min(...waits)).toBeGreaterThanOrEqual(500);
    },
  );

  it.each([
    ["0", 1_000],
    ["-5", 1_000],
    ["soon 2099", 1_000],
    ["in 5 minutes", 1_000],
    ["1e3", 1_000],
    ["1.5", 1_500],
    ["Wed, 21 Oct 2099 07:28:00 GMT", 60_000],
    ["Wed, 21 Oct 2099 07:26:00 GMT", 1_000],
  ])(
    "is waited for after a 503 with Retry-After: %s, by the clock of its own Date",
    async (value, expected) => {
      const headers = { "retry-after": value, date: "Wed, 21 Oct 2099 07:27:00 GMT" };
      expect((await read([reply(503, "", headers), END(message(end))])).waits).toEqual([expected]);
    },
  );

  it("is waited for as long as it asks: `retry:`, Retry-After in seconds and as a date", async () => {
    const clock = new ManualClock();
    const date = new Date(clock.now() + 100_000).toUTCString();
    const { waits } = await read([
      CUT("retry: 5000\n\n", message(text("1", "a"))),
      htmlPage(429, "", { "retry-after": "60" }),
      END(message(end)),
    ]);
    expect(waits).toEqual([5_000, 60_000]);
    expect((await read([htmlPage(503, "", { "retry-after": date }), END(message(end))])).waits).toEqual([
      100_000,
    ]);
    expect((await read([htmlPage(503, "", { "retry-after": "99999" }), END(message(end))])).waits).toEqual([
      300_000,
    ]);
    for (const [wish, waits] of [
      ["60000", [60_000, 60_000]],
      ["999999999", [300_000, 300_000]],
    ] as const) {
      const cut = CUT(`retry: ${wish}\n\n`);
      expect((await read([cut, cut, END(message(end))])).waits).toEqual(waits);
    }
  });

  it("may fail as often again after progress", async () => {
    let requests = 0;
    const { error, server } = await read(
      () => {
        if (++requests > 30) return END(message(end));
        return requests % 3 === 0 ? CUT(message(text(`${requests}`, "x"))) : UNREACHABLE;
      },
      { maxReconnects: 3 },
    );
    expect(error).toBeUndefined();
    expect(server.requests).toHaveLength(31);
  });

  it("is never asked again with maxReconnects 0", async () => {
    const { error, server } = await read([CUT(message(text("1", "a")))], { maxReconnects: 0 });
    expect(error).toMatchObject({ reason: "disconnected", lastEventId: "1" });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ["end", END],
    ["break", CUT],
  ])("may send no events for hours, over connections that last for a while and then %s", async (_, close) => {
    const short = { ...close(": \n\n", ": \n\n", ": \n\n"), pace: 5_000 };
    const { frames, server } = await read((_, index) => (index < 50 ? short : END(message(end))));
    expect(frames).toEqual([end]);
    expect(server.requests).toHaveLength(51);
  });

  it.each([
    ["ends", END],
    ["breaks", CUT],
  ])("may send a single byte on each connection that lasts for a while and then %s", async (_, close) => {
    // Less time than there is between two keep-alives.
    const short = { ...close(": \n\n", ""), pace: 6_000 };
    const { frames, server } = await read((_, index) => (index < 50 ? short : END(message(end))));
    expect(frames).toEqual([end]);
    expect(server.requests).toHaveLength(51);
  });

  it("is given up when it goes silent on each connection", async () => {
    const { error, server } = await read(() => STALL(": \n\n"));
    expect(error).toSatisfy(isStreamError);
    expect(server.requests).toHaveLength(11);
  });

  it("is given up with the code of the last failure", async () => {
    expect((await read(() => END(message(failed(false))))).error).toMatchObject({
      reason: "disconnected",
      code: "upstream",
    });
    const page = { ...END("<html>"), headers: { "content-type": "text/html" } };
    expect((await read(() => page)).error).toMatchObject({ code: "invalid_response" });
  });

  it("is given up when its connections fail slowly", async () => {
    const slow = { ...CUT(), delay: 20_000 };
    const { error, server } = await read(() => slow);
    expect(error).toSatisfy(isStreamError);
    expect(server.requests).toHaveLength(11);
  });

  it("is given up when each connection lasts for a while and ends in a failure", async () => {
    const down = { ...END(": \n\n", ": \n\n", ": \n\n", message(failed(false))), pace: 5_000 };
    const { error, server } = await read(() => down);
    expect(error).toMatchObject({
      reason: "disconnected",
      cause: { message: "the run can't be read", code: "upstream" },
    });
    expect(server.requests).toHaveLength(11);
  });

  it("counts as dead after 45 s of silence, before and after its headers", async () => {
    const { frames, waits, server } = await read([
      SILENT,
      STALL(message(text("1", "a"))),
      { ...STALL(": \n\n", ": \n\n", ": \n\n", message(end)), pace: 40_000 },
    ]);
    expect(frames).toEqual([text("1", "a"), end]);
    expect(waits).toEqual([46_000, 46_000]);
    expect(server.clock.pending).toBe(0);
  });

  it("leaves no timer behind where fetch ignores its signal", async () => {
    const { frames, server } = await read([STALL(message(text("1", "a"))), END(message(end))], {
      deaf: true,
    });
    expect(frames).toHaveLength(2);
    expect(server.clock.pending).toBe(0);
  });

  it("is given up at a message larger than accepted", async () => {
    const { error, server } = await read(
      [STALL(message(text("1", "a")), "id: 2\ndata: ", "x".repeat(5_000))],
      {
        maxEventBytes: 1_000,
      },
    );
    expect(error).toMatchObject({ reason: "event_too_large", lastEventId: "1" });
    expect(server.requests).toHaveLength(1);
    expect(server.openBodies).toBe(0);
  });
});

describe("an abort", () => {
  it.each([
    ["while the server is silent", SILENT],
    ["inside a stream", STALL(message(text("1", "a")))],
    ["in a pause", UNREACHABLE],
  ])("ends everything at once %s", async (_, connection) => {
    const server = new StreamServer([connection]);
    const controller = new AbortController();
    const source = routeSource(url, { fetch: server.fetch, clock: server.clock });
    const reading = (async () => {
      for await (const _ of source(undefined, controller.signal, () => {}));
    })();
    const outcome = reading.catch((error: unknown) => error);
    await settle();
    controller.abort("enough");
    expect(await outcome).toBe("enough");
    await settle();
    expect(server.clock.pending).toBe(0);
    expect(server.openBodies).toBe(0);
  });
});

describe("a fetch that never answers and ignores its signal", () => {
  it("is not waited for", async () => {
    const clock = new ManualClock();
    let requests = 0;
    const fetch = () => {
      requests++;
      return new Promise<never>(() => {});
    };
    const source = routeSource(url, { fetch, clock, maxReconnects: 1 });
    const reading = (async () => {
      for await (const _ of source(undefined, new AbortController().signal, () => {}));
    })();
    expect(await clock.run(reading.catch((error: unknown) => error))).toSatisfy(isStreamError);
    expect(requests).toBe(2);
    expect(clock.pending).toBe(0);
  });
});

describe("arguments that can't work are rejected by name", () => {
  it.each([
    ["url", () => routeSource("")],
    ["url", () => routeSource(undefined as never)],
    ["headers", () => routeSource(url, { headers: { "a b": "c" } })],
    ["clock", () => routeSource(url, { clock: { setTimeout } as never })],
    ["idleTimeout", () => routeSource(url, { idleTimeout: 0 })],
    ["maxReconnects", () => routeSource(url, { maxReconnects: -1 })],
    ["maxEventBytes", () => routeSource(url, { maxEventBytes: 0 })],
    ["fetch", () => routeSource(url, { fetch: "fetch" as never })],
    ["random", () => routeSource(url, { random: 1 as never })],
    ["position", () => routeSource(url, { position: "path" as never })],
    ["credentials", () => routeSource(url, { credentials: "always" as never })],
    ["apiKey", () => routeSource(url, { apiKey: "key" } as never)],
  ])("%s", (argument, call) => {
    expect(call).toThrow(expect.toSatisfy((error) => isArgumentError(error) && error.argument === argument));
  });
});
