import { ApiPromise, type WithResponse } from "../api-promise.ts";
import { segment } from "../check.ts";
import type { Input, Output, PathsWith, Verb } from "../http/contract.ts";
import type { CallSpec, Transport } from "../http/transport.ts";
import type { RequestOptions } from "../options.ts";
import { type PageNames, PagePromise } from "../pagination.ts";
import { toQuery } from "./params.ts";

/** The path parameter `id`; it is checked when the request is built, so that the call rejects instead of throwing. */
export const byId = (argument: string, id: string) => () => ({ path: { id: segment(argument, id) } });

/** The base of every group of operations on a client. */
export class Resource {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * A method, not a property or a getter: what logs or walks a client must not find the transport and, in it, the key.
   * @internal
   */
  protected transport(): Transport {
    return this.#transport;
  }

  /** Sends a request at once; the contract types its input and its value. @internal */
  protected call<Method extends Verb, Path extends PathsWith<Method>>(
    verb: Method,
    path: Path,
    input?: () => Input<Method, Path>,
    spec?: CallSpec<Output<Method, Path>>,
    options?: RequestOptions | null,
  ): ApiPromise<Output<Method, Path>> {
    return ApiPromise.of(this.#transport.run(verb, path, input, spec, options));
  }

  /** The list at `path`. @internal */
  protected pages<T, Extra, Path extends PathsWith<"GET">>(
    path: Path,
    parts: ListParts<Path>,
    options: RequestOptions | undefined,
  ): PagePromise<T, Extra> {
    return listPages(this.#transport, path, parts, options);
  }
}

/** How a list endpoint names the parts of its pages, and the query parameter that takes a page cursor. */
interface ListNames extends PageNames {
  parameter: string;
}

/** The names that most lists use. */
export const byCursor: ListNames = {
  itemsKey: "items",
  cursorKey: "nextCursor",
  parameter: "cursor",
  idKey: "id",
};

/** The names that the lists of workers use; each names its items differently. */
export const byToken = { cursorKey: "nextPageToken", parameter: "pageToken" };

/** A list that is a single page. */
export const onePage = { itemsKey: "items", parameter: "" };

interface ListParts<Path extends PathsWith<"GET">> {
  /** @default those of {@link byCursor} */
  names?: ListNames;
  query?: object | undefined;
  /** What the request needs beside `query`: its path, or entries of the query that were checked. */
  input?: () => Input<"GET", Path>;
  agentId?: string;
}

/**
 * The list at `path`. The calling method's return type determines `T` and `Extra`: the items, and the further fields of
 * a page.
 */
function listPages<T, Extra, Path extends PathsWith<"GET">>(
  transport: Transport,
  path: Path,
  { names = byCursor, query, input, agentId }: ListParts<Path>,
  options: RequestOptions | undefined,
): PagePromise<T, Extra> {
  const { parameter } = names;
  return new PagePromise<T, Extra>({
    ...names,
    path,
    from: (query as Record<string, string> | undefined)?.[parameter],
    fetch: (cursor) =>
      transport.run(
        "GET",
        path,
        () => {
          const given: { query?: object } = input?.() ?? {};
          const position = cursor === undefined ? {} : { [parameter]: cursor };
          return { ...given, query: { ...toQuery(query), ...given.query, ...position } } as never;
        },
        { agentId },
        options,
      ) as Promise<WithResponse<object>>,
  });
}
