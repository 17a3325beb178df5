import type { WithResponse } from "../api-promise.ts";
import type { Input, PathsWith } from "../http/contract.ts";
import type { Transport } from "../http/transport.ts";
import type { RequestOptions } from "../options.ts";
import { type PageNames, PagePromise } from "../pagination.ts";
import { toQuery } from "./params.ts";

/** A list endpoint's names, and the query parameter that takes a position. */
interface ListNames extends PageNames {
  parameter: string;
}

/** As most lists spell their pages. */
export const byCursor: ListNames = {
  itemsKey: "items",
  cursorKey: "nextCursor",
  parameter: "cursor",
  idKey: "id",
};

/** As the fleet's do; what is on a page differs. */
export const byToken = { cursorKey: "nextPageToken", parameter: "pageToken" };

/** One page. */
export const onePage = { itemsKey: "items", parameter: "" };

interface ListParts<Path extends PathsWith<"GET">> {
  names?: ListNames;
  query?: object | undefined;
  /** What the request needs beside the query's entries. */
  input?: () => Input<"GET", Path>;
  agentId?: string;
}

/** The list at `path`. `T` and `Extra`, its items and its page's own fields, are what the method that returns it says. */
export function listPages<T, Extra, Path extends PathsWith<"GET">>(
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
