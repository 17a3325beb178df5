import { checkObject, segment } from "../check.ts";
import { ArgumentError, unexpected } from "../errors.ts";
import { isAmbiguous } from "../http/retry.ts";
import type { CallSpec } from "../http/transport.ts";
import type { CreateAgentParams, Prompt, PromptInput } from "../types.ts";

/**
 * The parameters as a body; JSON leaves out what is undefined. An empty text is rejected by the name of its field: where
 * leaving a field out means "any" or "the default", a variable that isn't set must not do so silently.
 * @param mayBeEmpty The field whose empty text is a value
 */
export function checkParams<Params>(params: Params, mayBeEmpty?: keyof Params): Sent<Params> {
  if (typeof params !== "object" || params === null || Array.isArray(params)) {
    throw unexpected("params", "an object", params);
  }
  for (const [name, value] of Object.entries(params)) if (name !== mayBeEmpty) checkTexts(name, value);
  return params as Sent<Params>;
}

/** Fields whose texts are not the API's: a program's arguments and environment, HTTP headers, a model's parameters. */
const foreignTexts = /^(mcpServers\[\d+\]\.(args|env|headers)|(customSubagents\[\d+\]\.)?model\.params)\b/;
/** Bodies are nested no deeper; what is circular is reported when it is serialised. */
const deepest = 5;

function checkTexts(argument: string, value: unknown, depth = 0): void {
  if (value === "") throw new ArgumentError(argument, "must not be empty: leave it out, or set it");
  if (typeof value !== "object" || value === null || depth > deepest || foreignTexts.test(argument)) return;
  for (const [name, part] of Object.entries(value)) {
    checkTexts(Array.isArray(value) ? `${argument}[${name}]` : `${argument}.${name}`, part, depth + 1);
  }
}

type Sent<Params> = { [Key in keyof Params]: Exclude<Params[Key], undefined> };

/** A bare string is the prompt's text. */
export function toPrompt(prompt: string | Prompt): PromptInput {
  const input = typeof prompt === "string" ? { text: prompt } : prompt;
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    throw unexpected("prompt", 'a string or an object with "text"', prompt);
  }
  const argument = typeof prompt === "string" ? "prompt" : "prompt.text";
  if (typeof input.text !== "string") throw unexpected(argument, "a string", input.text);
  if (input.text === "") throw new ArgumentError(argument, "must not be empty");
  if (input.images !== undefined && !Array.isArray(input.images)) {
    throw unexpected("prompt.images", "a list", input.images);
  }
  input.images?.forEach(checkImage);
  return input as PromptInput;
}

function checkImage(image: unknown, index: number): void {
  const argument = `prompt.images[${index}]`;
  checkObject(argument, image);
  const { data, url, mimeType } = image as { data?: unknown; url?: unknown; mimeType?: unknown };
  if (data !== undefined && url !== undefined) {
    throw new ArgumentError(argument, "has both `data` and `url`: give either the bytes or an address");
  }
  if (data === undefined && url === undefined) throw new ArgumentError(argument, "needs `data` or `url`");
  if (typeof data === "string" && data.startsWith("data:")) {
    throw new ArgumentError(`${argument}.data`, "is a data: URL: give only its base64 part");
  }
  if (data !== undefined && mimeType === undefined)
    throw new ArgumentError(`${argument}.mimeType`, "is missing");
}

/** Rejects combinations that the server is known to reject, before anything is sent. */
export function checkExclusions(params: CreateAgentParams): void {
  if (params.agentId !== undefined) {
    segment("agentId", params.agentId);
    if (params.envVars !== undefined) {
      throw new ArgumentError("agentId", "can't be combined with `envVars`: leave one of them out");
    }
  }
  const { env, repos } = params as { env?: { type?: unknown; name?: unknown }; repos?: unknown };
  if (repos !== undefined && env?.type === "cloud" && env.name !== undefined) {
    throw new ArgumentError(
      "repos",
      "can't be combined with a named cloud environment: leave one of them out",
    );
  }
}

/** The body with the caller's further fields. */
export function withExtra<Body extends object>(
  body: Body,
  extraBody: Record<string, unknown> | undefined,
): Body {
  if (extraBody === undefined) return body;
  checkObject("extraBody", extraBody);
  for (const key of Object.keys(extraBody)) {
    // A field with a parameter of its own must go through it: an agent id given here would bypass the guard against
    // creating two agents.
    if (key in body || parameters.has(key)) {
      throw new ArgumentError(`extraBody.${key}`, "has a parameter of its own: set it there");
    }
  }
  return { ...body, ...extraBody };
}

const parameters = new Set(["prompt", "agentId", "envVars", "env", "repos"]);

/** The query parameters that take a page cursor. An empty one stands for the first page. */
const pageCursors = new Set(["cursor", "pageToken"]);

/**
 * A query without the entries that are undefined or null. An empty filter is rejected instead of left out, since without
 * it a request means everything: the pool of any repository, the agents of any pull request.
 */
export function toQuery<Query extends object>(query: Query | undefined): Given<Query> {
  if (query === undefined || query === null) return {} as Given<Query>;
  if (typeof query !== "object") throw unexpected("query", "an object", query);
  const given: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || (value === "" && pageCursors.has(name))) continue;
    if (typeof value === "string") {
      if (value.trim() === "") throw new ArgumentError(name, "must not be empty: leave it out to match all");
    } else if (typeof value !== "number" && typeof value !== "boolean") {
      // An empty list would be left out, too.
      throw unexpected(name, "a string, a number or a boolean", value);
    }
    given[name] = value;
  }
  return given as Given<Query>;
}

type Given<Query> = { [Key in keyof Query]?: Exclude<Query[Key], undefined> };

/** A deletion, which may be repeated: a 404 after an attempt that may have succeeded counts as success. */
export function deletion<T extends object>(answer: T): CallSpec<T> {
  let mayBeGone = false;
  return {
    empty: answer,
    has: Object.keys(answer),
    onRetry: (error) => {
      mayBeGone ||= isAmbiguous(error);
    },
    recover: ({ status }) => (mayBeGone && status === 404 ? answer : undefined),
  };
}
