/** Says what was expected if a value isn't it. */
export type Check = (value: unknown, owner: string) => string | undefined;

/** A check for each option: a name that is added to the options and not here does not compile. */
export type OptionTable<Options> = { readonly [Name in keyof Required<Options>]: Check };

function expecting(what: string, test: (value: unknown) => boolean): Check {
  return (value) => (test(value) ? undefined : what);
}

const isNumber = (value: unknown): value is number => typeof value === "number" && !Number.isNaN(value);

/** Anything: the option is checked elsewhere, or its form is free. */
export const anything: Check = () => undefined;

export const bool = expecting("true or false", (value) => typeof value === "boolean");

export const string = expecting("a string", (value) => typeof value === "string");

export const name = expecting(
  "a string that is not empty",
  (value) => typeof value === "string" && value !== "",
);

export const callback = expecting("a function", (value) => typeof value === "function");

/** A duration, or an age. */
export const duration = expecting("a number of at least 0", (value) => isNumber(value) && value >= 0);

export const count = expecting(
  "a whole number of at least 0",
  (value) => Number.isInteger(value) && (value as number) >= 0,
);

/** How often: a fault that applies to no request would let a test pass that tests nothing. */
export const times = expecting(
  "a whole number of at least 1, or Infinity",
  (value) => value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && (value as number) >= 1),
);

/** A limit that may be lifted. */
export const limit = expecting(
  "a whole number of at least 0, or Infinity",
  (value) => value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && (value as number) >= 0),
);

/** Text, or bytes of any realm. */
export const content = expecting(
  "a string or a Uint8Array",
  (value) => typeof value === "string" || ArrayBuffer.isView(value),
);

export const record = expecting("an object", isObject);

export function whole(from: number, to: number): Check {
  return expecting(
    `a whole number from ${from} to ${to}`,
    (value) => Number.isInteger(value) && (value as number) >= from && (value as number) <= to,
  );
}

export function oneOf(...values: readonly unknown[]): Check {
  return expecting(`one of ${values.map(String).join(", ")}`, (value) => values.includes(value));
}

export function list(check: Check): Check {
  return (value, owner) => {
    if (!Array.isArray(value)) return "an array";
    for (const [index, item] of value.entries()) enforce(item, check, `${owner}.${index}`);
    return undefined;
  };
}

/** An object with options of its own. */
export function group<Options>(table: OptionTable<Options>): Check {
  return (value, owner) => {
    checkOptions(owner, value, table);
    return undefined;
  };
}

/** The first check whose values have this kind; otherwise the last one speaks. */
export function either(first: Check, other: Check): Check {
  return (value, owner) => (first(value, owner) === undefined ? undefined : other(value, owner));
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
}

function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 40));
  if (typeof value === "number" || typeof value === "boolean" || value === null) return String(value);
  return Array.isArray(value) ? "an array" : `a value of type ${typeof value}`;
}

/** @throws TypeError that says where the value is, what was expected, and what was given. */
export function enforce(value: unknown, check: Check, owner: string): void {
  const expected = check(value, owner);
  if (expected !== undefined) throw new TypeError(`${owner}: expected ${expected}, got ${show(value)}`);
}

/**
 * Checks names and values of options; `undefined` is as good as absent.
 *
 * @throws TypeError that names the option and what there is.
 */
export function checkOptions<Options>(owner: string, options: unknown, table: OptionTable<Options>): void {
  if (options === undefined) return;
  enforce(options, record, owner);
  for (const [key, value] of Object.entries(options as object)) {
    if (!Object.hasOwn(table, key)) {
      const known = Object.keys(table).join(", ");
      throw new TypeError(`${owner}: unknown option "${key}"; expected one of ${known}`);
    }
    if (value !== undefined) enforce(value, table[key as keyof Options] as Check, `${owner}: ${key}`);
  }
}
