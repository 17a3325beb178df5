import { Redactor } from "./redact.ts";

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
