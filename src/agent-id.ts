import { ArgumentError, unexpected } from "./errors.ts";

/**
 * A random UUID (version 4). Not from `crypto.randomUUID`, which browsers offer in secure contexts only, while
 * `getRandomValues` is everywhere.
 */
export function randomUuid(): string {
  return format(crypto.getRandomValues(new Uint8Array(16)), 4);
}

/** The namespace of ids made by {@link agentIdFrom}: `b9d2f3a4-6c1e-4f57-9a83-2f0c7e5d1b46`. */
const namespace = Uint8Array.from([
  0xb9, 0xd2, 0xf3, 0xa4, 0x6c, 0x1e, 0x4f, 0x57, 0x9a, 0x83, 0x2f, 0x0c, 0x7e, 0x5d, 0x1b, 0x46,
]);

/**
 * Makes an agent id from a key of your own: the same key always gives the same id, on any machine. A job that crashed
 * between its create and its own record of it creates again with the same id, and finds its agent instead of making a
 * second one.
 *
 * The id is `bc-` and a UUID of RFC 9562's version 5 (SHA-1 of a fixed namespace and the key in UTF-8), so programs in
 * other languages can make it, too. It is not a secret, and it is as unique as the key: put everything into the key that
 * identifies your job.
 *
 * @throws ArgumentError when the key is not a string, or empty
 * @example
 * const agentId = await agentIdFrom(`nightly-docs/${repository}/${date}`);
 * const { agent, run } = await cursor.agents.create({ prompt, agentId }, { onConflict: "adopt" });
 */
export async function agentIdFrom(key: string): Promise<`bc-${string}`> {
  if (typeof key !== "string") throw unexpected("key", "a string", key);
  if (key === "") throw new ArgumentError("key", "must not be empty");
  const name = new TextEncoder().encode(key);
  const input = new Uint8Array(namespace.length + name.length);
  input.set(namespace);
  input.set(name, namespace.length);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-1", input));
  return `bc-${format(digest.subarray(0, 16), 5)}`;
}

function format(bytes: Uint8Array, version: number): string {
  bytes[6] = ((bytes[6] as number) & 0x0f) | (version << 4);
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
