import type { paths } from "../../generated/openapi.ts";
import type { PlainRequest } from "./plain-request.ts";

type Method = "get" | "post" | "put" | "patch" | "delete";
type Of<Path extends keyof paths, Verb extends Method> = NonNullable<paths[Path][Verb]>;
type PathsWith<Verb extends Method> = {
  [Path in keyof paths]: paths[Path] extends { [Key in Verb]: { responses: unknown } } ? Path : never;
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

/** What one attempt adds to a call; every resource spreads it into its own `init`. */
export interface AttemptInit {
  headers: Record<string, string>;
  bodySerializer: (body: unknown) => string;
  signal: AbortSignal;
  /** Bodies are read by us, within our limits. */
  parseAs: "stream";
  /** Sends what the client has made of the call. */
  fetch: (request: Request | PlainRequest) => Promise<Response>;
}

/** An answer as openapi-fetch gives it, with the success body's type. */
export interface Answer<Body> {
  data?: Body;
  error?: unknown;
  response: Response;
}

type Call<Verb extends Method> = <Path extends PathsWith<Verb>>(
  path: Path,
  init: AttemptInit & { params?: Params<Of<Path, Verb>> } & BodyOf<Of<Path, Verb>>,
) => Promise<Answer<Success<Of<Path, Verb>>>>;

/**
 * The part of an openapi-fetch client that we use, typed straight by the contract. openapi-fetch's own types rebuild
 * every answer member by member, and lose the open string unions on the way.
 */
export interface ApiClient {
  GET: Call<"get">;
  POST: Call<"post">;
  PUT: Call<"put">;
  PATCH: Call<"patch">;
  DELETE: Call<"delete">;
}
