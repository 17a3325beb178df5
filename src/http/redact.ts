import { attempt, base64, messageOf } from "../text.ts";

const placeholder = "[redacted]";

/** How much of an error is searched for a secret: enough for every fetch we know, and bounded. */
const searchNodes = 2_000;
const longestCauseChain = 10;
/** A shorter secret would blank half of every sentence. */
const shortestSecret = 4;

/** Replaces our own secrets, in every form they travel in, by a placeholder. */
export class Redactor {
  #parent: Redactor | undefined;
  #keeps: number;
  /** Each with its forms, which are made when something has failed. */
  #secrets = new Map<string, string[] | undefined>();

  /**
   * @param keeps How many secrets are kept: the latest ones
   * @param parent Whose secrets are replaced, too
   */
  constructor(keeps: number, parent?: Redactor) {
    this.#keeps = keeps;
    this.#parent = parent;
  }

  add(secret: string): void {
    if (secret.length < shortestSecret || this.#secrets.has(secret)) return;
    this.#secrets.set(secret, undefined);
    for (const oldest of this.#secrets.keys()) {
      if (this.#secrets.size <= this.#keeps) break;
      this.#secrets.delete(oldest);
    }
  }

  /** @param shortest Shorter secrets stay: for texts that programs compare */
  text(text: string, shortest = shortestSecret): string {
    for (const form of this.#forms(shortest)) {
      if (text.includes(form)) text = text.replaceAll(form, placeholder);
    }
    return this.#parent?.text(text, shortest) ?? text;
  }

  /** The error itself when no secret can be reached from it, else a copy with only name, message and code. */
  error(error: unknown, depth = longestCauseChain): unknown {
    if (!this.#reaches(error, new Set())) return error;
    const message = this.text(messageOf(error));
    if (!(error instanceof Error)) return new Error(message);
    const { name, stack, cause, code } = error as Error & { code?: unknown };
    const hasCause = cause !== undefined && depth > 0;
    const copy = new Error(message, hasCause ? { cause: this.error(cause, depth - 1) } : undefined);
    copy.name = this.text(String(name));
    copy.stack = typeof stack === "string" ? this.text(stack) : `${copy.name}: ${message}`;
    return code === undefined
      ? copy
      : Object.assign(copy, { code: typeof code === "number" ? code : this.text(String(code)) });
  }

  /** Longest first: a secret may be a part of another one. */
  #forms(shortest = shortestSecret): string[] {
    const all: string[] = [];
    for (const [secret, known] of this.#secrets) {
      const forms = known ?? formsOf(secret);
      this.#secrets.set(secret, forms);
      if (secret.length >= shortest) all.push(...forms);
    }
    return all.sort((one, other) => other.length - one.length);
  }

  #reaches(value: unknown, seen: Set<unknown>): boolean {
    if (typeof value === "string") return this.text(value) !== value;
    if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || seen.has(value))
      return false;
    // What is too large to be searched is not passed on.
    if (seen.add(value).size > searchNodes) return true;
    return partsOf(value).some((part) => this.#reaches(part, seen));
  }
}

/** What a log could show of an object, hidden or not: `message`, `stack` and `cause` are no enumerable fields. */
function partsOf(value: object): unknown[] {
  // A Request has its headers behind an accessor, and an error may show more as JSON than it has fields.
  const keys = [...Reflect.ownKeys(value), "headers"];
  const parts: unknown[] = keys.map((key) => attempt(() => Reflect.get(value, key)));
  parts.push(attempt(() => (value as { toJSON(): unknown }).toJSON()));
  return value instanceof Map || value instanceof Set || isHeaders(value) ? [...parts, ...value] : parts;
}

const isHeaders = (value: object): value is Iterable<unknown> & object =>
  value.constructor?.name === "Headers" && Symbol.iterator in value;

/** As it is, in base64 (alone, and as the user name of Basic), in a URL, a host name or JSON, and in hex. */
function formsOf(secret: string): string[] {
  const codes = [secret, `${secret}:`].map((text) => base64(text).replace(/=+$/, ""));
  const hex = Array.from(new TextEncoder().encode(secret), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );
  const json = inJson(secret);
  const forms = [
    secret,
    json,
    // A JSON message that quotes a JSON body.
    inJson(json),
    // Half a surrogate pair can't be in a URL.
    attempt(() => encodeURIComponent(secret)) as string | undefined,
    ...codes,
    hex,
    hex.toUpperCase(),
    ...(secret.length < 8 ? [] : [secret.toLowerCase()]),
  ];
  return [...new Set(forms.filter((form) => form !== undefined))];
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

type Json = Record<string, unknown>;

const valuesOf = (value: unknown): unknown[] =>
  typeof value === "object" && value !== null ? Object.values(value) : [];

/**
 * What a request's body holds in confidence, for as long as the call lasts: values of `envVars`, and of an MCP server
 * its headers, its environment and its client secret; the `value` of a secret to be set. A server may quote them when it refuses the request.
 */
export class BodySecrets extends Redactor {
  constructor(parent: Redactor) {
    super(Number.POSITIVE_INFINITY, parent);
  }

  learn(body: unknown): void {
    const { envVars, mcpServers, value: secret } = (body ?? {}) as Json;
    this.#learn(secret);
    for (const value of valuesOf(envVars)) this.#learn(value);
    for (const server of valuesOf(mcpServers)) {
      const { headers, env, auth } = (server ?? {}) as Json;
      for (const value of [...valuesOf(headers), ...valuesOf(env)]) this.#learn(value);
      this.#learn((auth as Json | undefined)?.["CLIENT_SECRET"]);
    }
  }

  #learn(value: unknown): void {
    if (typeof value !== "string") return;
    this.add(value);
    // The credentials of "Bearer …" may be quoted without their scheme.
    const credentials = /^\S+ (\S{8,})$/.exec(value)?.[1];
    if (credentials !== undefined) this.add(credentials);
  }
}
