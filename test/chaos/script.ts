import type { EmulatorOptions, RunScript } from "cursor-cloud-agents/emulator";
import fc from "fast-check";

// Characters of one to four bytes, a line separator that is none to SSE, a BOM, and what must be escaped in JSON.
const piece = fc.constantFrom(
  "Hel",
  "lo ",
  "北京",
  "🧪é",
  "\u2028x\u0085",
  "\ufeff",
  "a\nb\r\n",
  'data: "q"',
  "",
  "id: 7\n\n",
);
const text = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(""));
const large = fc.integer({ min: 0, max: 30 }).map((size) => (size < 29 ? "ok" : "large ".repeat(12_000)));

const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("text" as const), text }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("thinking" as const), text }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant("tool" as const),
      text,
      result: large,
      growing: fc.nat(2),
      fails: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("unknown" as const), text }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("misshapen" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("status" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("comment" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 90_000 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("branch" as const), name: fc.constantFrom("one", "two") }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("end" as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** What the run of a world does and says, and how its emulator behaves. */
export const scriptArbitrary = fc.record({
  steps: fc.noBias(fc.array(step, { maxLength: 36, size: "max" })),
  ending: fc.constantFrom("finish", "finish", "finish", "fail", "expire", "cancelled"),
  /** The service's own trouble: the first connections are told to come back; one hears an `error`. */
  unavailable: fc.constantFrom(0, 0, 0, 1, 2),
  error: fc.constantFrom(false, false, false, false, false, false, false, true),
  options: fc.record({
    interactionUpdates: fc.constantFrom(true, true, true, false),
    startDelayMs: fc.constantFrom(0, 0, 3_000),
    pace: fc.constantFrom(0, 0, 0, 700),
    createDelayMs: fc.constantFrom(0, 0, 4_000),
    streamNotReady: fc.constantFrom<NonNullable<EmulatorOptions["streamNotReady"]>[]>(
      false,
      false,
      false,
      "in-stream",
      "409",
    ),
  }),
});
export type Script = typeof scriptArbitrary extends fc.Arbitrary<infer Value> ? Value : never;

export function play(script: Script, run: RunScript): void {
  run.unavailable(script.unavailable);
  script.steps.forEach((step, index) => {
    if (script.error && index === Math.floor(script.steps.length / 2))
      run.error("internal", "the stream failed");
    perform(run, step, index);
  });
  if (script.ending === "finish") run.finish(script.steps.length % 2 === 0 ? {} : { text: "The last word." });
  else if (script.ending === "fail") run.fail();
  else if (script.ending === "expire") run.expire();
  else run.cancelled();
}

function perform(run: RunScript, step: Step, index: number): unknown {
  switch (step.kind) {
    case "text":
      return run.text(step.text);
    case "thinking":
      return run.thinking(step.text);
    case "tool": {
      const growingArgs = Array.from({ length: step.growing }, (_, count) => ({ path: "p".repeat(count) }));
      const options = step.fails ? { growingArgs, error: { message: step.text } } : { growingArgs };
      return run.tool(
        "read_file",
        { path: step.text },
        { content: step.result },
        { ...options, callId: `call-${index}` },
      );
    }
    case "unknown":
      return run.event("usage_preview", { text: step.text });
    case "misshapen":
      return run.event("assistant", { words: index });
    case "status":
      return run.status("PAUSED").status("RUNNING");
    case "comment":
      return run.raw(": nothing to see\n\n");
    case "wait":
      return run.wait(step.ms);
    case "branch":
      return run.branch(`cursor/${step.name}`);
    case "end":
      return run.cut({ clean: true });
  }
}
