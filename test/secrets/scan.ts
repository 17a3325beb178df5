import { inspect } from "node:util";
import { expect } from "vitest";

/** What a client is given in confidence. Nothing of it may be in what it throws or tells. */
export const key = 'crsr_0f9e"8d7c/6b5a+4321=TEST';
export const envValue = 'env "hush" \\ value';
export const mcpHeader = "mcp-header-hush";
export const mcpEnv = "mcp-env-hush";
export const clientSecret = "client-secret-hush";
export const accessToken = "eyJhbGciOiJub25lIn0.hush.token";
export const signature = "5f16bcaf00d1hush";
export const query = `X-Amz-Credential=AKIA%2F2026&X-Amz-Expires=900&X-Amz-Signature=${signature}&x-id=GetObject`;

const plain = [key, envValue, mcpHeader, mcpEnv, clientSecret, accessToken, signature, query];
const json = (text: string) => JSON.stringify(text).slice(1, -1);
const base64 = (text: string) => Buffer.from(text).toString("base64").replace(/=+$/, "");

/** Every form in which they are searched for. */
export const secrets = [
  ...new Set([
    ...plain,
    ...plain.map(json),
    ...plain.map((text) => json(json(text))),
    ...plain.map(encodeURIComponent),
    base64(key),
    base64(`${key}:`),
    Buffer.from(key).toString("hex"),
    Buffer.from(key).toString("hex").toUpperCase(),
  ]),
];

/** Everything a log, an error tracker or a curious reader could get out of a value, and out of all that it leads to. */
export function everythingOf(value: unknown, seen = new Set<unknown>(), depth = 12): string {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return text(value);
  if (seen.has(value) || depth === 0) return "";
  seen.add(value);
  const parts = [text(value), safely(() => inspect(value, { depth: 20, showHidden: true, getters: true }))];
  parts.push(
    safely(() => JSON.stringify(value)),
    safely(() => (value as Error).stack),
  );
  const asJson = read(value, "toJSON");
  if (typeof asJson === "function") parts.push(safely(() => String(asJson.call(value))));
  for (const name of Reflect.ownKeys(value)) {
    parts.push(text(name), everythingOf(read(value, name), seen, depth - 1));
  }
  // What only an accessor of its class tells.
  for (const name of ["headers", "url", "cause", "errors"])
    parts.push(everythingOf(read(value, name), seen, depth - 1));
  if (value instanceof Map || value instanceof Set || value instanceof Headers)
    for (const entry of value) parts.push(everythingOf(entry, seen, depth - 1));
  return parts.join("\n");
}

const read = (value: object, name: PropertyKey) => {
  try {
    return Reflect.get(value, name);
  } catch {
    return undefined;
  }
};
const text = (value: unknown) => safely(() => String(value));
const safely = (make: () => string | undefined): string => {
  try {
    return make() ?? "";
  } catch {
    return "";
  }
};

export function expectClean(value: unknown): void {
  const all = everythingOf(value);
  expect(secrets.filter((secret) => all.includes(secret))).toEqual([]);
}
