import { readFileSync } from "node:fs";
import type { RunCheckpoint, RunEvent, RunStreamInclude } from "cursor-cloud-agents";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Connection, CUT, END, failedResponse, htmlPage } from "../support/fake-api.ts";
import { assistant, frame, heartbeat, status, tool, update } from "../support/frames.ts";
import { ref } from "../support/sample-run.ts";
import { readAll, StreamServer } from "../support/stream-server.ts";
import { collect } from "../support/waiting.ts";

const modes = ["simplified", "interaction", "all"] as const;
const newlines = { LF: "\n", CRLF: "\r\n", CR: "\r" };
const fixture = (name: string) =>
  readFileSync(new URL(`../../fixtures/${name}.sse`, import.meta.url), "utf8");
const framesOf = (body: string) => body.split(/(?<=\n\n)/);
const idOf = (text: string) => /^id: (.*)/.exec(text)?.[1];
const bytes = (text: string) => new TextEncoder().encode(text);

/** What follows a position, as the real server sends it: exclusive per id. */
const after = (frames: string[], id: string | undefined) =>
  id === undefined ? frames : frames.slice(frames.map(idOf).lastIndexOf(id) + 1);

/** The events that have a place of their own: with an id, whether read or supplied. */
const placed = (events: RunEvent[]) =>
  events.flatMap(({ synthesized, ...event }: RunEvent & { synthesized?: true }) =>
    event.id === undefined ? [] : [event],
  );

const whole = async (body: string, include: RunStreamInclude) =>
  placed(await readAll(new StreamServer([END(body)]), { include }));

/** The bytes in pieces of the given sizes, over and over. */
function pieces(body: Uint8Array, sizes: number[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0, index = 0; at < body.length; index++) {
    const size = sizes[index % sizes.length] ?? body.length;
    chunks.push(body.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

describe.each(modes)("in the mode %s", (include) => {
  describe.each(Object.entries(newlines))("with %s", (_name, newline) => {
    const frames = framesOf(fixture("docs-example"));
    const wire = bytes(frames.join("").replaceAll("\n", newline));

    it("the page's example is the same however its bytes are split", async () => {
      const expected = await whole(frames.join(""), include);
      for (let at = 1; at < wire.length; at++) {
        const server = new StreamServer([END(wire.subarray(0, at), wire.subarray(at))]);
        expect(placed(await readAll(server, { include })), `split at ${at}`).toEqual(expected);
      }
    });

    it("the page's example is the same cut at every byte and resumed", async () => {
      const expected = await whole(frames.join(""), include);
      for (let at = 0; at <= wire.length; at++) {
        const server = new StreamServer(({ lastEventId }, index) =>
          index === 0
            ? CUT(wire.subarray(0, at))
            : END((status() + after(frames, lastEventId).join("")).replaceAll("\n", newline)),
        );
        expect(placed(await readAll(server, { include })), `cut at ${at}`).toEqual(expected);
        expect(server.streams.length).toBeLessThanOrEqual(2);
      }
    });
  });

  it("a run of many twins is the same in any pieces, with any line ends", async () => {
    const body = fixture("finished-with-edits");
    const expected = await whole(body, include);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...Object.values(newlines)),
        fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 8 }),
        async (newline, sizes) => {
          const server = new StreamServer([END(...pieces(bytes(body.replaceAll("\n", newline)), sizes))]);
          expect(placed(await readAll(server, { include }))).toEqual(expected);
        },
      ),
      { numRuns: 6 },
    );
  });

  it("a run of many twins is the same cut after each frame, and in it", async () => {
    const frames = framesOf(fixture("finished-with-edits"));
    const expected = await whole(frames.join(""), include);
    for (let at = 0; at < frames.length; at++) {
      for (const rest of ["", frames[at]!.slice(0, -1)]) {
        const server = new StreamServer(({ lastEventId }, index) =>
          index === 0 ? CUT(...frames.slice(0, at), rest) : END(status(), ...after(frames, lastEventId)),
        );
        expect(placed(await readAll(server, { include })), `cut at frame ${at}`).toEqual(expected);
      }
    }
  });
});

// ── A model of the server, and of all that may happen to a connection ────────────────────────────────────────────

const groups = fc.array(fc.constantFrom("text", "tool", "said", "step", "beat", "status", "odd"), {
  maxLength: 25,
});

/** A run as frames: twins share an id, ids are opaque and in no order. */
function script(kinds: string[], seed: number): string[] {
  const frames = kinds.flatMap((kind, index) => {
    const id = `${(seed * 7919 + index * 104_729) % 99_991}-${index % 3}x${index}`;
    const text = `w${index} é`;
    if (kind === "text") return [assistant(id, text), update(id, { type: "text-delta", text })];
    if (kind === "tool")
      return [
        tool(id, `c${index}`, "running"),
        update(id, { type: "tool-call-started", callId: `c${index}` }),
      ];
    if (kind === "said") return [assistant(id, text)];
    if (kind === "step") return [update(id, { type: "step-started", stepId: index })];
    if (kind === "odd") return [frame("usage_preview", index % 2 ? { tokens: index } : "{", id)];
    return kind === "beat" ? [heartbeat] : [status(index % 2 ? "RUNNING" : "CREATING")];
  });
  const end = `end-${seed}`;
  return [...frames, frame("result", { status: "FINISHED", text: "t" }, end), frame("done", {}, end)];
}

const mishap = fc.record({
  kind: fc.constantFrom("cut", "end", "stall", "503", "409", "400", "unreachable", "html"),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  replayed: fc.nat(30),
});
const world = fc.record({
  kinds: groups,
  seed: fc.nat(9_999),
  sizes: fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 5 }),
  mishaps: fc.array(mishap, { maxLength: 8 }),
  newline: fc.constantFrom(...Object.values(newlines)),
  include: fc.constantFrom(...modes),
});
type World = typeof world extends fc.Arbitrary<infer Value> ? Value : never;

function serve({ sizes, mishaps, newline }: World, frames: string[], replaysTooMuch: boolean): StreamServer {
  return new StreamServer(
    ({ lastEventId }, index): Connection => {
      const now = mishaps[index];
      if (now?.kind === "503") return htmlPage(503, "<html>");
      if (now?.kind === "409") return failedResponse(409, "stream_unavailable");
      if (now?.kind === "html") return htmlPage(200, "<html>login</html>");
      if (now?.kind === "400" && lastEventId !== undefined)
        return failedResponse(400, "invalid_last_event_id");
      const rest = after(frames, lastEventId);
      const from = Math.max(0, frames.length - rest.length - (replaysTooMuch ? (now?.replayed ?? 9) : 0));
      const body = bytes([status("FINISHED"), ...frames.slice(from)].join("").replaceAll("\n", newline));
      if (!now || now.kind === "400") return END(...pieces(body, sizes));
      const part = pieces(body.subarray(0, Math.floor(now.at * body.length)), sizes);
      if (now.kind === "unreachable") return CUT();
      if (now.kind === "stall") return { ...END(...part), ending: "stall" };
      return now.kind === "end" ? END(...part) : CUT(...part);
    },
    { runs: ["RUNNING"] },
  );
}

describe("with any failures of the connections", () => {
  it.each([false, true])(
    "every wanted event comes once and in order (the server replays too much: %s)",
    async (tooMuch) => {
      await fc.assert(
        fc.asyncProperty(world, async (given) => {
          const frames = script(given.kinds, given.seed);
          const expected = await whole(frames.join(""), given.include);
          const server = serve(given, frames, tooMuch);
          expect(placed(await readAll(server, { include: given.include }))).toEqual(expected);
          expect(server.openBodies).toBe(0);
          expect(server.clock.pending).toBe(0);
          const rejected = server.streams.filter((_request, index) => given.mishaps[index]?.kind === "400");
          for (const { lastEventId, at } of rejected) {
            const again = server.streams.filter(
              (request) => request.at > at && request.lastEventId === lastEventId,
            );
            if (lastEventId !== undefined) expect(again).toEqual([]);
          }
        }),
        { numRuns: 60 },
      );
    },
  );

  it("also over any number of processes, each with the checkpoint of the one before", async () => {
    await fc.assert(
      fc.asyncProperty(world, fc.array(fc.nat(12), { maxLength: 6 }), async (given, counts) => {
        const frames = script(given.kinds, given.seed);
        const { include } = given;
        const events: RunEvent[] = [];
        let from: RunCheckpoint | undefined;
        for (const count of counts) {
          // A rejected position is the caller's from the second process on: an error, and rightly so.
          const mishaps = given.mishaps.filter(({ kind }) => kind !== "400");
          const server = serve({ ...given, mishaps }, frames, false);
          const stream = server.cursor().runs.stream(ref, { include, from });
          const some = (async () => {
            const full = events.length + count;
            if (count > 0) for await (const event of stream) if (events.push(event) === full) break;
          })();
          await server.run(some);
          from = JSON.parse(JSON.stringify(stream.checkpoint()));
        }
        const server = serve({ ...given, mishaps: [] }, frames, false);
        events.push(...(await server.run(collect(server.cursor().runs.stream(ref, { include, from })))));
        expect(placed(events)).toEqual(await whole(frames.join(""), include));
      }),
      { numRuns: 50 },
    );
  });
});
