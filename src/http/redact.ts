import { attempt, base64, messageOf } from "../text.ts";

/** What stands in a secret's place. */
export const placeholder = "[redacted]";
/** In the texts of other people, shorter secrets stay: they could be words. Real keys are far longer. */
export const shortestInText = 16;

/** At most this many objects of an error are searched for a secret: enough for every fetch we know. */
const searchNodes = 2_000;
const longestCauseChain = 10;
/** Replacing a shorter secret would blank half of every sentence. */
const shortestSecret = 4;

/** A part of a text: from `start` to before `end`. */
export interface Span {
  start: number;
  end: number;
}

/** Replaces our own secrets by a placeholder, in every form in which they are sent. */
export class Redactor {
  #parent: Redactor | undefined;
  #keeps: number;
  /** Each secret with its forms, which are computed when a text is redacted for the first time. */
  #secrets = new Map<string, string[] | undefined>();

  /**
   * @param keeps How many secrets are kept; the oldest ones go first
   * @param parent A redactor whose secrets are replaced, too
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

  /**
   * Replaces every secret in a text.
   * @param shortest Secrets shorter than this stay: for texts that programs compare
   */
  text(text: string, shortest = shortestSecret): string {
    let shown = "";
    let end = 0;
    for (const span of this.find(text, shortest)) {
      shown += text.slice(end, span.start) + placeholder;
      end = span.end;
    }
    return end === 0 ? text : shown + text.slice(end);
  }

  /** Where the secrets stand in a text, in order. Secrets that overlap are one span. */
  find(text: string, shortest = shortestSecret): Span[] {
    const found: Span[] = [];
    for (const form of this.#allForms(shortest)) {
      for (let start = text.indexOf(form); start !== -1; start = text.indexOf(form, start + form.length)) {
        found.push({ start, end: start + form.length });
      }
    }
    if (found.length < 2) return found;
    const spans: Span[] = [];
    for (const span of found.sort((one, other) => one.start - other.start || other.end - one.end)) {
      const last = spans.at(-1);
      if (last && span.start < last.end) last.end = Math.max(last.end, span.end);
      else spans.push(span);
    }
    return spans;
  }

  /** How many characters at the end of a text may be the beginning of a secret whose rest is still to come. */
  openEnd(text: string, shortest = shortestSecret): number {
    let longest = 0;
    for (const form of this.#allForms(shortest)) {
      for (let length = Math.min(form.length - 1, text.length); length > longest; length--) {
        const start = text.length - length;
        if (text[start] === form[0] && form.startsWith(text.slice(start))) longest = length;
      }
    }
    return longest;
  }

  /** Returns the error itself where no secret can be reached from it, else a copy with only its name, message and code. */
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

  /** The forms of all secrets, those of the parent included. */
  #allForms(shortest: number): string[] {
    const all: string[] = [];
    for (const [secret, known] of this.#secrets) {
      const forms = known ?? formsOf(secret);
      this.#secrets.set(secret, forms);
      if (secret.length >= shortest) all.push(...forms);
    }
    return this.#parent ? [...all, ...this.#parent.#allForms(shortest)] : all;
  }

  /** Whether the value, or anything that it refers to, contains a secret. */
  #reaches(value: unknown, seen: Set<unknown>): boolean {
    if (typeof value === "string") return this.text(value) !== value;
    if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || seen.has(value))
      return false;
    // An error too large to be searched counts as one with a secret.
    if (seen.add(value).size > searchNodes) return true;
    return partsOf(value).some((part) => this.#reaches(part, seen));
  }
}

/** Everything that a log could show of an object. `message`, `stack` and `cause` are not enumerable, but logs show them. */
function partsOf(value: object): unknown[] {
  // The headers of a Request are behind an accessor, and toJSON may show more of an error than its fields.
  const keys = [...Reflect.ownKeys(value), "headers"];
  const parts: unknown[] = keys.map((key) => attempt(() => Reflect.get(value, key)));
  parts.push(attempt(() => (value as { toJSON(): unknown }).toJSON()));
  return value instanceof Map || value instanceof Set || isHeaders(value) ? [...parts, ...value] : parts;
}

const isHeaders = (value: object): value is Iterable<unknown> & object =>
  value.constructor?.name === "Headers" && Symbol.iterator in value;

/** A secret as it is, in base64 (alone, and as the user name of Basic), in a URL, a host name or JSON, and in hex. */
function formsOf(secret: string): string[] {
  const codes = [secret, `${secret}:`].map((text) => base64(text).replace(/=+$/, ""));
  const hex = Array.from(new TextEncoder().encode(secret), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );
  const json = inJson(secret);
  const forms = [
    secret,
    json,
    // Inside a JSON message that quotes a JSON body.
    inJson(json),
    // encodeURIComponent throws for half a surrogate pair, which no URL can contain.
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
 * A redactor that also replaces the secrets in a request's body, since a server may quote them when it rejects the
 * request: the values of `envVars`; the headers, the environment and the client secret of an MCP server; the `value` of a
 * secret to be set.
 */
export function withSecretsOf(body: unknown, parent: Redactor): Redactor {
  const redactor = new Redactor(Number.POSITIVE_INFINITY, parent);
  const add = (secret: unknown) => {
    if (typeof secret !== "string") return;
    redactor.add(secret);
    // The credentials of "Bearer …" may be quoted without their scheme.
    const credentials = /^\S+ (\S{8,})$/.exec(secret)?.[1];
    if (credentials !== undefined) redactor.add(credentials);
  };
  const { envVars, mcpServers, value } = (body ?? {}) as Json;
  add(value);
  for (const secret of valuesOf(envVars)) add(secret);
  for (const server of valuesOf(mcpServers)) {
    const { headers, env, auth } = (server ?? {}) as Json;
    for (const secret of [...valuesOf(headers), ...valuesOf(env)]) add(secret);
    add((auth as Json | undefined)?.["CLIENT_SECRET"]);
  }
  return redactor;
}
