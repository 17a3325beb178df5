import type { paths } from "../../generated/openapi.ts";
import type { PlainRequest } from "./attempt.ts";

/** A method, as openapi-fetch calls its functions. */
export type Verb = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
type Of<Method extends Verb, Path extends keyof paths> = NonNullable<paths[Path][Lowercase<Method>]>;

/** The contract's paths that have this method. */
export type PathsWith<Method extends Verb> = {
  [Path in keyof paths]: paths[Path] extends { [Key in Lowercase<Method>]: { responses: unknown } }
    ? Path
    : never;
}[keyof paths];

type JsonContent<Body> = { content: { "application/json": Body } };
type Success<Operation> = Operation extends { responses: infer Responses }
  ? Responses extends { 200: JsonContent<infer Body> } | { 201: JsonContent<infer Body> }
    ? Body
    : Responses extends { 204: unknown }
      ? undefined
      : never
  : never;

type ParametersOf<Operation> = Operation extends { parameters: infer All } ? All : never;
type Part<Operation, Name extends "path" | "query"> = Name extends keyof ParametersOf<Operation>
  ? Exclude<ParametersOf<Operation>[Name], undefined>
  : never;
type Params<Operation> = ([Part<Operation, "path">] extends [never]
  ? unknown
  : { path: Part<Operation, "path"> }) &
  ([Part<Operation, "query">] extends [never] ? unknown : { query?: Part<Operation, "query"> });
type BodyOf<Operation> = Operation extends { requestBody: JsonContent<infer Body> }
  ? { body: Body }
  : unknown;

/** What an operation is asked with: its path parameters, its query and its body, as the contract has them. */
export type Input<Method extends Verb, Path extends keyof paths> = Params<Of<Method, Path>> &
  BodyOf<Of<Method, Path>>;
/** What an operation answers when it succeeds. */
export type Output<Method extends Verb, Path extends keyof paths> = Success<Of<Method, Path>>;

/** What one attempt adds to a call. */
export interface AttemptInit {
  headers: Record<string, string>;
  bodySerializer: (body: unknown) => string;
  signal: AbortSignal;
  /** Bodies are read by us, within our limits. */
  parseAs: "stream";
  /** Sends what the client has made of the call. */
  fetch: (request: Request | PlainRequest) => Promise<Response>;
}

/** An answer as openapi-fetch gives it. */
export interface Answer {
  error?: unknown;
  response: Response;
}

/**
 * The part of an openapi-fetch client that we use; `Transport` types its calls by the contract. openapi-fetch's own
 * types rebuild every answer member by member, and lose the open string unions on the way.
 */
export type ApiClient = Record<
  Verb,
  (
    path: string,
    init: AttemptInit & { params: { path?: unknown; query?: unknown }; body?: unknown },
  ) => Promise<Answer>
>;
