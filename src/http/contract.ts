import type { paths } from "../../generated/openapi.ts";

/** An HTTP method. The functions of openapi-fetch have the same names. */
export type Verb = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
/** The operation of the contract with this method and this path. */
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

/** What a request of this operation consists of: its path parameters, its query and its body, as the contract has them. */
export type Input<Method extends Verb, Path extends keyof paths> = Params<Of<Method, Path>> &
  BodyOf<Of<Method, Path>>;
/** The body of the operation's successful response. */
export type Output<Method extends Verb, Path extends keyof paths> = Success<Of<Method, Path>>;
