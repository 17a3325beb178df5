import { type Fault, gone } from "./fault.ts";
import { isDoneAlone } from "./own-answer.ts";
import type { ProxyRequest } from "./request-parser.ts";

/** The faults of a world, each list for the requests of its sort in order; when a list is used up, all is well. */
export interface Faults {
  streams: Fault[];
  posts: Fault[];
  looks: Fault[];
  /** From the stream request with this index on, the stream is gone. */
  goneFrom: number | undefined;
  /** Any number of connections in a row may bring nothing new. */
  drought: boolean;
}

const pass: Fault = { ...gone, deed: "pass" };
/** After so many connections without progress the client may look at the run itself, and settle by what it finds. */
const triesBeforeAsking = 3;
/** The client looks at a run whose terminal status no result has followed for this many milliseconds. */
const silenceBeforeAsking = 5_000;

/** Hands out the faults of a world and remembers what was asked for. */
export class Plan {
  /** The position of each stream request. */
  readonly positions: (string | undefined)[] = [];
  /** Indices of the stream requests whose position was refused. */
  readonly refused: number[] = [];
  /** How many requests of each sort came. */
  readonly counts = { streams: 0, posts: 0, looks: 0 };
  /** Stream requests after one that was answered 410. */
  streamsAfterGone = 0;
  /** The longest row of stream requests without a new position. */
  longestDrought = 0;
  #drought = 0;
  #known = new Set<string | undefined>();
  #isGone = false;
  #hadDoneAlone = false;
  /** A connection was silent long enough for the client to ask for the run, and to settle if it is over. */
  #wasSilent = false;
  #badLooks = 0;
  readonly #faults: Faults;

  constructor(faults: Faults) {
    this.#faults = faults;
  }

  /** The client had reason to doubt that the stream goes on. */
  get mayHaveGivenUp(): boolean {
    return this.#isGone || this.#hadDoneAlone || this.#wasSilent || this.longestDrought >= triesBeforeAsking;
  }

  readonly decide = (request: ProxyRequest): Fault => {
    if (request.method === "POST") return this.#faults.posts[this.counts.posts++] ?? pass;
    if (request.path.endsWith("/stream")) return this.#forStream(request);
    const fault = this.#faults.looks[this.counts.looks++] ?? pass;
    // The client repeats a look twice, so two failures in a row are the most that it must get over.
    this.#badLooks = fault.deed === "pass" ? 0 : this.#badLooks + 1;
    if (this.#badLooks <= 2) return fault;
    this.#badLooks = 0;
    return pass;
  };

  #forStream({ position }: ProxyRequest): Fault {
    const index = this.counts.streams++;
    this.positions.push(position);
    this.#drought = this.#known.has(position) ? this.#drought + 1 : 1;
    this.#known.add(position);
    this.longestDrought = Math.max(this.longestDrought, this.#drought);
    if (this.#isGone) this.streamsAfterGone++;
    this.#isGone ||= index >= (this.#faults.goneFrom ?? Infinity);
    if (this.#isGone) return gone;
    const fault = this.#faults.streams[index] ?? pass;
    this.#wasSilent ||= fault.deed === "stall" || fault.pauses.some((ms) => ms >= silenceBeforeAsking);
    if (this.#drought >= triesBeforeAsking - 1 && !this.#faults.drought) return refresh(fault);
    this.#hadDoneAlone ||= isDoneAlone(fault);
    if (fault.deed !== "refuse") return fault;
    if (position === undefined) return pass;
    // One whose body came late may not have been understood.
    if (fault.pauses.length === 0) this.refused.push(index);
    return fault;
  }
}

/** Makes sure that something new is passed on, so that the stream stays the one who tells the outcome. */
function refresh(fault: Fault): Fault {
  if (fault.deed === "pass") return { ...fault, replay: false };
  const place = { ...fault.place, unit: "fresh" as const, count: 4 + (fault.place.count % 3) };
  return { ...fault, deed: "cut", replay: false, place };
}
