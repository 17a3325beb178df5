import * as z from "zod/mini";
import { limit, rule, text } from "../schemas.ts";

const name = z.string().check(z.minLength(1), z.maxLength(255));

const environmentJson = z.string().check(
  rule((value) => {
    try {
      const parsed: unknown = JSON.parse(value);
      return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed);
    } catch {
      return false;
    }
  }, "environmentJson must be the text of a JSON object"),
);

/** Body of Create An Environment. */
export const createEnvironmentBody = z.strictObject({
  owner: z.enum(["personal", "team"]),
  name,
  repos: z.array(z.strictObject({ url: text })).check(z.maxLength(100)),
  environmentJson,
});

/** Body of Update An Environment. */
export const updateEnvironmentBody = z.strictObject({
  name: z.optional(name),
  environmentJson: z.optional(environmentJson),
});

/** Query of List Environments and of List Environment History. */
export const pageQuery = z.strictObject({ limit: z.optional(limit), cursor: z.optional(text) });

/** Query of List Environment Builds, whose pages have one size. */
export const buildsQuery = z.strictObject({ cursor: z.optional(text) });

const secretName = z.string().check(
  rule(
    (value) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(value),
    "Secret name must be letters, digits and underscores",
  ),
  z.maxLength(255),
  rule(
    (value) => !/CURSOR_SANDBOX/.test(value) && !/^(HTTP|HTTPS|ALL)_PROXY$/i.test(value),
    "Secret name is reserved",
  ),
);

const bytesOf = (value: string) => new TextEncoder().encode(value).length;

/** Path and body of the operations that set a secret. */
export const putSecretInput = z.strictObject({
  name: secretName,
  body: z.strictObject({
    value: z.string().check(
      z.minLength(1),
      rule((value) => bytesOf(value) <= 4096, "value must be at most 4096 bytes"),
    ),
    type: z.optional(z.enum(["runtime_secret", "environment_variable"])),
    repos: z.optional(
      z
        .array(z.string().check(rule((repo) => /[^/]\/[^/]/.test(repo), "Not a repository")))
        .check(z.maxLength(100)),
    ),
  }),
});

/** Query of the operations on one secret. */
export const secretVersionQuery = z.strictObject({ id: z.optional(text) });

/** Query of List Secrets. */
export const listSecretsQuery = z
  .strictObject({
    scope: z.optional(z.enum(["team", "user", "environment"])),
    environmentId: z.optional(z.uuid()),
    name: z.optional(text),
    repo: z.optional(text),
    limit: z.optional(limit),
    cursor: z.optional(text),
  })
  .check(
    rule(
      (query) => query.environmentId === undefined || !["team", "user"].includes(query.scope ?? ""),
      "environmentId can't be combined with scope team or user",
    ),
  );
