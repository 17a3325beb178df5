/** A source of chance that gives the same again from the same seed (mulberry32). */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** 0 <= x < 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }
}

const join = (...parts: Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));

/** What parsers stumble over, beside bytes at random. */
const snippets = [
  "\n",
  "\r",
  "\r\n",
  "\n\n",
  "\0",
  "\ufeff",
  "\u2028",
  "null",
  "[]",
  "{}",
  "-0",
  "1e999",
  '"',
  "\\",
  "\\ud800",
  '"__proto__":1,',
  "id:\n",
  "id: 1\n",
  "data:",
  "event: result\n",
  "event: done\ndata: {}\n\n",
  "event: error\n",
  "retry: 1\n",
  ": \n",
].map((text) => new TextEncoder().encode(text));

type Mutation = (bytes: Uint8Array, chance: Chance, other: Uint8Array) => Uint8Array;

/** A stretch of `bytes`, short ones more often. */
function stretch(bytes: Uint8Array, chance: Chance): [number, number] {
  const from = chance.below(bytes.length + 1);
  const length = Math.floor(chance.next() ** 3 * (bytes.length - from + 1));
  return [from, from + length];
}

const mutations: Mutation[] = [
  function flip(bytes, chance) {
    const copy = bytes.slice();
    const at = chance.below(copy.length);
    if (copy.length > 0) copy[at] = (copy[at] as number) ^ (1 << chance.below(8));
    return copy;
  },
  function insert(bytes, chance) {
    const at = chance.below(bytes.length + 1);
    const piece =
      chance.below(3) === 0
        ? Uint8Array.from({ length: 1 + chance.below(4) }, () => chance.below(256))
        : chance.pick(snippets);
    return join(bytes.subarray(0, at), piece, bytes.subarray(at));
  },
  function remove(bytes, chance) {
    const [from, to] = stretch(bytes, chance);
    return join(bytes.subarray(0, from), bytes.subarray(to));
  },
  function duplicate(bytes, chance) {
    const [from, to] = stretch(bytes, chance);
    return join(bytes.subarray(0, to), bytes.subarray(from));
  },
  function splice(bytes, chance, other) {
    const [from, to] = stretch(bytes, chance);
    const [otherFrom, otherTo] = stretch(other, chance);
    return join(bytes.subarray(0, from), other.subarray(otherFrom, otherTo), bytes.subarray(to));
  },
  function truncate(bytes, chance) {
    return bytes.slice(0, chance.below(bytes.length + 1));
  },
];

/** One to six mutations, one after the other; `other` is what pieces may be taken from. */
export function mutate(bytes: Uint8Array, chance: Chance, other: Uint8Array): Uint8Array {
  let result = bytes;
  for (let left = 1 + chance.below(6); left > 0; left--)
    result = chance.pick(mutations)(result, chance, other);
  return result;
}
