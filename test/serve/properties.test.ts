import type { ServedFrame } from "cursor-cloud-agents/serve";
import fc from "fast-check";
import { expect, it } from "vitest";
import { type Connection, CUT, END, failedResponse, htmlPage } from "../support/fake-api.ts";
import { assistant, done, result, status, thinking, tool } from "../support/frames.ts";
import { StreamServer } from "../support/stream-server.ts";
import { MessageParser } from "./event-source.ts";
import { ask, lasting, served } from "./support.ts";

const kinds = fc.array(fc.constantFrom("text", "thought", "tool", "wide", "blank"), { maxLength: 12 });
const mishaps = fc.array(fc.constantFrom("none", "cut", "503", "409", "position", "late"), { maxLength: 6 });

function script(of: string[]): string[] {
  const frames = of.map((kind, index) => {
    const id = `${1000 + index}-0`;
    if (kind === "tool") return tool(id, `call-${index}`, "completed", { result: { success: { a: "\n" } } });
    if (kind === "thought") return thinking(id, `hm ${index}`);
    return assistant(id, { wide: "🙂ü\u2028", blank: "\n" }[kind] ?? `word ${index} `);
  });
  return [...frames, result({}, "9000-0"), done.replace("900-0", "9000-0")];
}

/** The API: what is behind a position, whole or cut, or a failed response. */
function api(frames: string[], plan: string[]): StreamServer {
  return new StreamServer(
    ({ lastEventId }, index): Connection => {
      const mishap = plan[index] ?? "none";
      if (mishap === "503") return htmlPage(503, "<html>");
      if (mishap === "409") return failedResponse(409, "stream_unavailable");
      if (mishap === "position" && lastEventId !== undefined)
        return failedResponse(400, "invalid_last_event_id");
      const at =
        lastEventId === undefined ? -1 : frames.findIndex((one) => one.startsWith(`id: ${lastEventId}\n`));
      // Exclusive by id: `done` shares the result's, and is skipped with it.
      const rest = frames
        .slice(at + 1)
        .filter((one) => lastEventId === undefined || !one.startsWith(`id: ${lastEventId}\n`));
      if (mishap === "cut") return CUT(status(), ...rest.slice(0, 2), (rest[2] ?? "").slice(0, 20));
      return { ...END(status(), ...rest), delay: mishap === "late" ? 5_000 : 0 };
    },
    { runs: ["RUNNING"] },
  );
}

/** A browser whose connections break after the given numbers of bytes, and then no more. It discards what it has at a reset. */
async function browse(
  frames: string[],
  plan: string[],
  cuts: number[],
  named: boolean,
): Promise<ServedFrame[]> {
  let seen: ServedFrame[] = [];
  let lastEventId = "";
  // Another server each time: nothing is remembered between two connections.
  for (let connection = 0; connection <= 40; connection++) {
    const server = api(frames, connection < cuts.length ? plan.slice(connection) : []);
    let left = cuts[connection] ?? Number.POSITIVE_INFINITY;
    const response = await server.run(ask(server, { named, ...(lastEventId === "" ? {} : { lastEventId }) }));
    if (response.status === 204) return seen;
    expect(response.status).toBe(200);
    const parser = new MessageParser(lastEventId);
    const reader = response.body!.getReader();
    while (left > 0) {
      const { value, done: isOver } = await server.run(reader.read());
      if (isOver) break;
      parser.feed(value.subarray(0, left));
      left -= value.length;
    }
    await reader.cancel();
    expect(server.openBodies).toBe(0);
    for (const { data } of parser.messages) {
      const frame = JSON.parse(data) as ServedFrame;
      if (frame.type === "reset") seen = [];
      else seen.push(frame);
    }
    ({ lastEventId } = parser);
  }
  throw new Error("the browser is still coming back");
}

it("the browser's connection may break at any byte, any number of times, and the whole run arrives once", async () => {
  await fc.assert(
    fc.asyncProperty(
      kinds,
      mishaps,
      fc.array(fc.nat(900), { maxLength: 8 }),
      fc.boolean(),
      async (of, plan, cuts, named) => {
        const frames = script(of);
        const whole = lasting((await served(api(frames, []))).frames);
        const seen = lasting(await browse(frames, plan, cuts, named));
        // A `done` that had to be told without the API says so, and has lost the id that it shared; so has the end.
        const plain = (one: ServedFrame) => (one.type === "done" ? { type: "done" } : one);
        // A browser that has the end and loses its connection gets 204, and nothing of the run is missing.
        expect(seen.map(plain)).toEqual(whole.map(plain));
      },
    ),
    { numRuns: 60 },
  );
});

it("a connection may break at each byte of one run, and the whole run arrives once", async () => {
  const frames = script(["wide"]);
  const { text, frames: whole } = await served(api(frames, []));
  const length = new TextEncoder().encode(text).length;
  for (let at = 0; at <= length; at++) {
    const seen = lasting(await browse(frames, [], [at], false));
    expect(seen.map(({ type }) => type)).toEqual(lasting(whole).map(({ type }) => type));
  }
});

it("two tabs on one run are two readers, and each receives all of it", async () => {
  const frames = script(["text", "thought", "wide", "tool", "text"]);
  const server = api(frames, []);
  const [one, other] = await Promise.all([served(server), served(server)]);
  expect(one.frames).toEqual(other.frames);
  expect(lasting(one.frames)).toHaveLength(8);
  expect(server.streams).toHaveLength(2);
});
