import { describe, expect, it } from "vitest";
import { byteByByte, CUT, END } from "../support/fake-api.ts";
import { assistant, brief, briefly, done, frame, heartbeat, result, status } from "../support/frames.ts";
import { readAll, StreamServer } from "../support/stream-server.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const ending = result() + done;
const read = (...chunks: (string | Uint8Array)[]) => readAll(new StreamServer([END(...chunks, ending)]));
const textOf = (events: Awaited<ReturnType<typeof read>>) =>
  events.map((event) => (event.type === "assistant" ? event.data.text : "")).join("");

describe("line ends", () => {
  const whole = 'id: 100-0\nevent: assistant\ndata: {"text":\ndata: "ab"}\n\n';
  const expected = ["assistant#100-0 ab", "result#900-0 Hello", "done#900-0"];

  it.each([
    ["LF", "\n"],
    ["CRLF", "\r\n"],
    ["CR", "\r"],
  ])("%s frames an event alike wherever its bytes are split", async (_name, newline) => {
    const body = bytes((whole + ending).replaceAll("\n", newline));
    const splits = [...body.keys()].slice(1).map((at) => [body.subarray(0, at), body.subarray(at)]);
    const single = [...body].map((byte) => Uint8Array.of(byte));
    const withEmpty = single.flatMap((byte) => [byte, new Uint8Array()]);
    for (const chunks of [[body], ...splits, single, withEmpty]) {
      expect(briefly(await readAll(new StreamServer([END(...chunks)])))).toEqual(expected);
    }
  });

  it("may be mixed within one body", async () => {
    const body =
      status().replace("\n", "\r\n") +
      'id: 100-0\nevent: assistant\ndata: {"text":"x"}\r\n\n' +
      result().replaceAll("\n", "\r") +
      done;
    for (const chunks of [[body], byteByByte(body)]) {
      expect(briefly(await readAll(new StreamServer([END(...chunks)])))).toEqual([
        "status RUNNING",
        "assistant#100-0 x",
        "result#900-0 Hello",
        "done#900-0",
      ]);
    }
  });

  it("are CR, LF and CRLF only; the body is UTF-8 without a charset", async () => {
    const text = "a\u2028b\u2029c\u0085d ✅";
    const body = assistant("100-0", text);
    expect(body).toContain(text); // unescaped
    const events = await read(body);
    expect(events).toHaveLength(3);
    expect(textOf(events)).toBe(text);
  });

  it.each(["text/event-stream; charset=iso-8859-1", "TEXT/EVENT-STREAM;charset=latin1"])(
    "%s is read as UTF-8 all the same",
    async (type) => {
      const server = new StreamServer([
        { ...END(assistant("100-0", "é✅"), ending), headers: { "content-type": type } },
      ]);
      expect(textOf(await readAll(server))).toBe("é✅");
    },
  );

  it("may be a lone CR as the very last byte of the body", async () => {
    const cr = (text: string) => text.replaceAll("\n", "\r");
    const server = new StreamServer([END(cr(assistant("100-0", "x"))), END(cr(ending))]);
    const events = await readAll(server);
    expect(briefly(events)).toEqual(["assistant#100-0 x", ...expected.slice(1)]);
    expect(events.at(-1)).not.toHaveProperty("synthesized");
    expect(server.positions).toEqual([undefined, "100-0"]);
  });

  it("that are missing leave the last frame undelivered", async () => {
    const server = new StreamServer([
      END(assistant("100-0", "whole"), assistant("101-0", "half").slice(0, -1)),
      END(ending),
    ]);
    expect(briefly(await readAll(server))).toEqual(["assistant#100-0 whole", ...expected.slice(1)]);
    expect(server.positions).toEqual([undefined, "100-0"]);
  });
});

describe("characters", () => {
  const text = "北京 “q” 🧪 é";

  it("survive every split inside them", async () => {
    const body = bytes(assistant("100-0", text));
    for (let at = 1; at < body.length; at++) {
      expect(textOf(await read(body.subarray(0, at), body.subarray(at)))).toBe(text);
    }
    expect(textOf(await read(...byteByByte(assistant("100-0", text))))).toBe(text);
  });

  it("cut in half with their connection leave no trace in the next one", async () => {
    const body = bytes(assistant("101-0", text));
    for (let at = 1; at < body.length; at++) {
      const server = new StreamServer([
        CUT(assistant("100-0", "a"), body.subarray(0, at)),
        END(assistant("101-0", text), ending),
      ]);
      const whole = textOf(await readAll(server));
      expect(whole).toBe(`a${text}`);
      expect(whole).not.toContain("\ufffd");
    }
  });

  it("of a byte-order mark are dropped at the very start only", async () => {
    const [first, ...rest] = byteByByte("\ufeff") as [Uint8Array, ...Uint8Array[]];
    const later = assistant("100-0", "\ufeffx\ufeff");
    for (const start of [[first, ...rest], [new Uint8Array(), first, ...rest], ["\ufeff"], ["", `\ufeff`]]) {
      const events = await read(...start, status() + later);
      expect(events[0]?.type).toBe("status");
      expect(textOf(events)).toBe("\ufeffx\ufeff");
    }
  });

  it("of white space are text like any other", async () => {
    const deltas = ["Hello", " ", "\n", "world", "", "  two", "\t"];
    const events = await read(deltas.map((delta, index) => assistant(`10${index}-0`, delta)).join(""));
    expect(events.flatMap((event) => (event.type === "assistant" ? [event.data.text] : []))).toEqual(deltas);
  });
});

describe("frames", () => {
  it("without data are signs of life, not errors", async () => {
    const server = new StreamServer([
      END(
        `${status()}: ping\n\nevent: heartbeat\n\nevent: heartbeat\ndata:\n\n`,
        `id: 100-1\n\n:\n\n${heartbeat}${assistant("100-2", "a")}${ending}`,
      ),
    ]);
    const events = await readAll(server);
    expect(briefly(events).filter((name) => name !== "heartbeat")).toEqual([
      "status RUNNING",
      "assistant#100-2 a",
      "result#900-0 Hello",
      "done#900-0",
    ]);
    expect(
      events.filter(({ type }) => type === "heartbeat").map((event) => "data" in event && event.data),
    ).toEqual([{}, {}]);
  });

  it("of unknown names, values and fields pass through and move the position", async () => {
    const odd = { callId: "c", name: "brand_new_tool", status: "queued", extra: [1] };
    const server = new StreamServer([
      CUT(status("WARMING_UP"), frame("usage_preview", { tokens: 3 }, "100-1")),
      END(
        frame("tool_call", odd, "100-2"),
        frame("constructor", 1, "100-3"),
        frame("toString", null),
        ending,
      ),
    ]);
    const events = await readAll(server);
    expect(events.slice(0, 5)).toEqual([
      { type: "status", data: { runId: expect.any(String), status: "WARMING_UP" } },
      { type: "unknown", name: "usage_preview", id: "100-1", data: { tokens: 3 } },
      { type: "tool_call", id: "100-2", data: odd },
      { type: "unknown", name: "constructor", id: "100-3", data: 1 },
      { type: "unknown", name: "toString", data: null },
    ]);
    expect(server.positions).toEqual([undefined, "100-1"]);
  });

  it("without an event name are unknown ones named message", async () => {
    expect((await read('id: 1\ndata: {"a":1}\n\n'))[0]).toEqual({
      type: "unknown",
      name: "message",
      id: "1",
      data: { a: 1 },
    });
  });

  it("whose JSON does not parse are delivered as invalid, and the stream continues", async () => {
    const bad = frame("assistant", '{"text":"br', "101-0");
    const glued = frame("thinking", '{"text":"a"}{"text":"b"}', "101-1");
    const server = new StreamServer([
      CUT(status(), assistant("100-0", "a"), bad, glued),
      END(status(), assistant("102-0", "ok"), ending),
    ]);
    const events = await readAll(server);
    expect(events.slice(2, 5)).toEqual([
      { type: "invalid", name: "assistant", id: "101-0", raw: '{"text":"br' },
      { type: "invalid", name: "thinking", id: "101-1", raw: '{"text":"a"}{"text":"b"}' },
      { type: "assistant", id: "102-0", data: { text: "ok" } },
    ]);
    expect(server.positions).toEqual([undefined, "101-1"]);
  });

  it("that are bad on every connection are delivered once", async () => {
    const bad = frame("assistant", "{", "101-0");
    const all = [assistant("100-0", "a"), bad, assistant("102-0", "ok")];
    const server = new StreamServer([CUT(...all.slice(0, 2)), CUT(...all.slice(0, 2)), END(...all, ending)]);
    const names = briefly(await readAll(server));
    expect(names).toEqual([
      "assistant#100-0 a",
      "invalid:assistant#101-0",
      "assistant#102-0 ok",
      "result#900-0 Hello",
      "done#900-0",
    ]);
  });

  it.each([
    ["status", "{}"],
    ["status", '{"status":5}'],
    ["assistant", "null"],
    ["assistant", '{"text":null}'],
    ["thinking", "[]"],
    ["tool_call", '{"callId":"c"}'],
    ["interaction_update", '{"text":"no type"}'],
    ["heartbeat", "7"],
    ["usage_preview", "{"],
    ["usage_preview", ""],
  ])("%s with %s is invalid, not a crash", async (name, data) => {
    const server = new StreamServer([END(frame(name, data, "100-0"), ending)]);
    expect((await readAll(server, { include: "all" }))[0]).toEqual({
      type: "invalid",
      name,
      id: "100-0",
      raw: data,
    });
  });

  it("show at most 4 KB of an invalid payload", async () => {
    const [event] = await read(frame("assistant", `{${"x".repeat(100_000)}`, "100-0"));
    expect(event).toMatchObject({ type: "invalid", raw: expect.stringMatching(/^\{x{4095}$/) });
  });

  it("lose one space after the colon and no more; unknown fields are ignored", async () => {
    const events = await read(
      'retry: 5\nfoo: bar\nid:100-0\nevent:assistant\ndata:  {"text":" two"}\nbaz\n\n',
    );
    expect(briefly(events)[0]).toBe("assistant#100-0  two");
    expect(brief((await read('event: assistant\nid:  7\ndata: {"text":""}\n\n'))[0]!)).toBe("assistant# 7 ");
  });
});
