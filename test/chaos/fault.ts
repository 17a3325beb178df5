import fc from "fast-check";

/** Where in an answer something happens; `more` bytes further on, so inside of what follows. */
export interface Place {
  /** `fresh` counts frames whose id was not passed on before: so many of them make progress certain. */
  unit: "byte" | "head" | "frame" | "fresh";
  count: number;
  more: number;
}

/** What the proxy does with one request. */
export interface Fault {
  /**
   * - `pass`: nothing but pieces and pauses
   * - `cut`: the answer breaks off at `place`
   * - `stall`: it falls silent there, the socket stays open
   * - `drop`: the connection breaks before the request is forwarded
   * - `answer`: the proxy answers by itself
   * - `gone`: 410 for this and all later streams
   * - `refuse`: 400 for the position that was sent
   */
  deed: "pass" | "cut" | "stall" | "drop" | "answer" | "gone" | "refuse";
  place: Place;
  /** Cut by RST instead of FIN. */
  reset: boolean;
  /** The position is not passed on: the stream comes from its start. */
  replay: boolean;
  /** Sizes into which the answer is cut up, over and over; none: as it comes. */
  pieces: number[];
  /** Milliseconds before each of the first pieces. */
  pauses: number[];
  status: 200 | 429 | 500 | 502 | 503 | 504;
  body: "json" | "html" | "empty";
  retryAfter?: "0" | "1" | undefined;
}

const sizes: fc.Arbitrary<number[]> = fc.oneof(
  { weight: 5, arbitrary: fc.constant<number[]>([]) },
  { weight: 1, arbitrary: fc.constant<number[]>([1]) },
  { weight: 3, arbitrary: fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 4 }) },
);
// Shorter than the silence a client takes for death (60 s), even on top of 30 s without a heartbeat.
const pauses = fc.oneof(
  { weight: 4, arbitrary: fc.constant<number[]>([]) },
  { weight: 1, arbitrary: fc.array(fc.integer({ min: 1, max: 20_000 }), { maxLength: 3 }) },
);

const more = fc.oneof(fc.constant(0), fc.nat(120));
const byte: fc.Arbitrary<Place> = fc.record({
  unit: fc.constant("byte" as const),
  count: fc.nat(1500),
  more: fc.constant(0),
});
const head: fc.Arbitrary<Place> = fc.record({
  unit: fc.constant("head" as const),
  count: fc.constant(1),
  more,
});
const frame: fc.Arbitrary<Place> = fc.record({
  unit: fc.constant("frame" as const),
  count: fc.integer({ min: 1, max: 8 }),
  more,
});
const fresh: fc.Arbitrary<Place> = fc.record({
  unit: fc.constant("fresh" as const),
  count: fc.integer({ min: 1, max: 4 }),
  more,
});
const inStream = fc.oneof(
  { weight: 1, arbitrary: byte },
  { weight: 1, arbitrary: head },
  { weight: 3, arbitrary: frame },
  { weight: 5, arbitrary: fresh },
);
/** A JSON answer is all one: before it, in its head, behind that, in the body. */
const inJson = fc.oneof(
  { weight: 1, arbitrary: byte },
  { weight: 2, arbitrary: byte.map((place) => ({ ...place, count: place.count % 300 })) },
  { weight: 1, arbitrary: fc.constant<Place>({ unit: "byte", count: 0, more: 0 }) },
  { weight: 2, arbitrary: head },
);

function faults(
  deeds: readonly (readonly [number, Fault["deed"]])[],
  statuses: Fault["status"][],
  place: fc.Arbitrary<Place>,
  replay: fc.Arbitrary<boolean>,
): fc.Arbitrary<Fault> {
  return fc.record({
    deed: fc.oneof(...deeds.map(([weight, deed]) => ({ weight, arbitrary: fc.constant(deed) }))),
    place,
    reset: fc.boolean(),
    replay,
    pieces: sizes,
    pauses,
    status: fc.constantFrom(...statuses),
    body: fc.constantFrom("json" as const, "html" as const, "empty" as const),
    retryAfter: fc.constantFrom(undefined, undefined, "0" as const, "1" as const),
  });
}

const never = fc.constant(false);
/** One in six. */
const seldom = fc.integer({ min: 0, max: 5 }).map((throwOfDice) => throwOfDice === 5);

/** For requests of a stream. A 200 is a captive portal's page, or, as JSON goes, a stream that holds nothing but `done`. */
export const streamFault = faults(
  [
    [1, "pass"],
    [30, "cut"],
    [3, "stall"],
    [2, "drop"],
    [4, "answer"],
    [2, "refuse"],
  ],
  [200, 429, 500, 502, 503, 504],
  inStream,
  seldom,
);

/** The stream is gone for good. */
export const gone: Fault = {
  deed: "gone",
  place: { unit: "byte", count: 0, more: 0 },
  reset: false,
  replay: false,
  pieces: [],
  pauses: [],
  status: 500,
  body: "json",
};

/** For requests that change something: what matters is whether it was carried out and its answer lost. */
export const postFault = faults(
  [
    [2, "pass"],
    [6, "cut"],
    [1, "stall"],
    [2, "drop"],
    [4, "answer"],
  ],
  [429, 500, 502, 503, 504],
  inJson,
  never,
);

/** For the other requests. */
export const lookFault = faults(
  [
    [2, "pass"],
    [3, "cut"],
    [1, "stall"],
    [1, "drop"],
    [3, "answer"],
  ],
  [429, 500, 502, 503, 504],
  inJson,
  never,
);
