import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Redactor } from "../../src/http/redact.ts";
import type { RunEvent } from "../../src/index.ts";
import { EventRedactor } from "../../src/runs/redacted-events.ts";

const key = "crsr_0123456789abcdef-TEST";

const delta = (text: string, type: "assistant" | "thinking" = "assistant") =>
  ({ type, data: { text } }) as RunEvent;
const heartbeat = { type: "heartbeat", data: {} } as RunEvent;

const redactor = new Redactor(8);
redactor.add(key);

function redact(events: RunEvent[]): RunEvent[] {
  const events_ = new EventRedactor(redactor);
  return [...events.flatMap((event) => events_.push(event)), ...events_.flush()];
}

const textOf = (events: RunEvent[], type = "assistant"): string =>
  events
    .map((event) => (event.type === type ? (event as { data: { text: string } }).data.text : ""))
    .join("");

const forms = [key, encodeURIComponent(key), btoa(key).replace(/=+$/, ""), key.toLowerCase()];

describe("a key in deltas", () => {
  it.each(forms)("is replaced in one delta, in two, and at one character a delta: %s", (form) => {
    const text = `The key ${form} is mine, ${form}${form} cccc`;
    const expected = "The key [redacted] is mine, [redacted][redacted] cccc";
    for (let at = 0; at <= text.length; at++) {
      const events = redact([delta(text.slice(0, at)), delta(text.slice(at))]);
      expect(textOf(events)).toBe(expected);
      expect(events).toHaveLength(2);
    }
    const single = redact([...text].map((character) => delta(character)));
    expect([textOf(single), single.length]).toEqual([expected, text.length]);
  });

  it("is never whole in what a page joins, whatever comes between, at any cut", () => {
    const pieces = fc.array(
      fc.oneof({ weight: 6, arbitrary: fc.nat({ max: 9 }) }, fc.constantFrom("heartbeat", "thinking")),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(pieces, (steps) => {
        const text = `a ${key} b ${key}`;
        let at = 0;
        const events: RunEvent[] = [];
        for (const step of steps) {
          if (step === "heartbeat") events.push(heartbeat);
          else if (step === "thinking") events.push(delta("c", "thinking"));
          else {
            events.push(delta(text.slice(at, at + (step as number))));
            at += step as number;
          }
        }
        const all = redact([...events, delta(text.slice(at))]);
        expect(all).toHaveLength(events.length + 1);
        expect(all.map(({ type }) => type)).toEqual([...events.map(({ type }) => type), "assistant"]);
        expect(textOf(all)).not.toContain(key.slice(7));
        expect(textOf(all)).not.toContain(key.slice(0, 8));
        expect(textOf(all, "thinking")).toMatch(/^c*$/);
      }),
      { numRuns: 500 },
    );
  });

  it("does not hold back text that begins no key, and nothing for longer than until the next event", () => {
    const events = new EventRedactor(redactor);
    expect(events.push(delta("Hello"))).toHaveLength(1);
    expect(events.push(delta("basic"))).toHaveLength(0);
    expect(events.push(heartbeat)).toEqual([delta("basic"), heartbeat]);
    expect(events.push(delta("c"))).toHaveLength(0);
    expect(events.push(delta("c"))).toEqual([delta("c")]);
    expect(events.push(delta("!"))).toEqual([delta("c"), delta("!")]);
    expect(events.flush()).toEqual([]);
  });

  it("leaves events without a key as they are, the same objects", () => {
    const event = delta("Hello");
    expect(new EventRedactor(redactor).push(event)[0]).toMatchObject({
      data: (event as { data: unknown }).data,
    });
    expect(new EventRedactor(redactor).push(heartbeat)[0]).toBe(heartbeat);
  });

  it("leaves all text as it is where no key is in it", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string(), fc.constantFrom("c", "cr", "crsr_", "Y3", "")), { maxLength: 20 }),
        (texts) => {
          expect(redact(texts.map((text) => delta(text)))).toEqual(texts.map((text) => delta(text)));
        },
      ),
    );
  });

  it("holds back no endless run of deltas without text", () => {
    const events = new EventRedactor(redactor);
    let delivered = events.push(delta("c")).length;
    for (let count = 0; count < 10_000; count++) delivered += events.push(delta("")).length;
    expect(delivered).toBeGreaterThan(8_000);
  });
});

it("keys are replaced in names and values of any event, however deep", () => {
  const data = JSON.parse(
    `{"callId":"${key}","args":{"__proto__":{"${key}":["x${key}"]}},"n":[1,null,true]}`,
  );
  const [event] = redact([{ type: "tool_call", id: key, data } as RunEvent]);
  expect(JSON.stringify(event)).toBe(
    '{"type":"tool_call","id":"[redacted]","data":{"callId":"[redacted]","args":{"__proto__":{"[redacted]":["x[redacted]"]}},"n":[1,null,true]}}',
  );
});
