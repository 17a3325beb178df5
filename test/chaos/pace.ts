import fc from "fast-check";

/** How somebody reads a run. */
export type Pace =
  | { kind: "eager" }
  /** Lets `ms` pass after each `every`th event. */
  | { kind: "slow"; every: number; ms: number }
  /** Stops once, for `ms`, behind the event with this index. */
  | { kind: "pausing"; at: number; ms: number }
  /** Leaves after so many events each time, and goes on by the checkpoint, as another process would. */
  | { kind: "leaving"; after: number[]; how: "break" | "close" | "abort"; beside: boolean }
  /** Is torn away while it waits for an event, after so many milliseconds each time, and goes on by the checkpoint. */
  | { kind: "torn"; after: number[] }
  /** Asks for the result at the same time. */
  | { kind: "beside"; ms: number }
  /** Waits for the result inside of the loop, behind the event with this index. */
  | { kind: "inside"; at: number }
  /** Only asks for the result. */
  | { kind: "result" }
  /** Leaves for good, then asks for the result. */
  | { kind: "left"; after: number }
  | { kind: "text" }
  | { kind: "web" }
  | { kind: "wait" };

const count = fc.nat(25);

export const paceArbitrary: fc.Arbitrary<Pace> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("eager" as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("slow" as const),
      every: fc.integer({ min: 1, max: 5 }),
      ms: fc.integer({ min: 1, max: 20_000 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("pausing" as const),
      at: count,
      ms: fc.integer({ min: 60_000, max: 600_000 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("leaving" as const),
      after: fc.array(count, { minLength: 1, maxLength: 6 }),
      how: fc.constantFrom("break" as const, "close" as const, "abort" as const),
      beside: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("torn" as const),
      after: fc.array(fc.nat(30_000), { minLength: 1, maxLength: 6 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("beside" as const), ms: fc.nat(30_000) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("inside" as const), at: count }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("result" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("left" as const), after: count }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("text" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("web" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("wait" as const) }) },
);
