import { ApiPromise, type WithResponse } from "./api-promise.ts";
import { ApiError } from "./errors.ts";

/** One page of a list; the page's own further fields (`totalCount`, `streamCursor`, …) are on it too. */
export interface Page<T> {
  /** What is on the page; an empty one need not be the last. */
  items: T[];
  /** The position of the next page; absent on the last one. Opaque. */
  nextCursor?: string;
  /** Asks for the next page; undefined when this is the last one. */
  nextPage(): Promise<Page<T> | undefined>;
}

/** How one list endpoint spells its pages; names differ from endpoint to endpoint. */
export interface PageNames {
  itemsKey: string;
  /** Absent where the list has no pages. */
  cursorKey?: string;
  /** What makes two items the same: an item that moves to a later page while one walks is given once. */
  idKey?: string;
}

/** Where a list's pages come from. */
export interface PageSource extends PageNames {
  /** Asks for the page at `cursor`; without one, for the first. */
  fetch(cursor: string | undefined): Promise<WithResponse<object>>;
  /** Where the walk begins, when the caller says so. */
  from?: string | undefined;
  path: string;
}

/**
 * A list: await it for the first page, or iterate it for every item of every page. Lazy: nothing is sent before, and
 * the next page is asked for only when the items of this one are used up.
 *
 * @example
 * for await (const agent of cursor.agents.list()) console.log(agent.id);
 */
export class PagePromise<T, Extra = unknown> extends ApiPromise<Page<T> & Extra> implements AsyncIterable<T> {
  #idKey: string | undefined;

  /** @internal */
  constructor(source: PageSource) {
    super(() => loadPage(source, undefined, new Set(source.from === undefined ? [] : [source.from])));
    this.#idKey = source.idKey;
  }

  /** Walks the pages, the first one included. */
  async *pages(): AsyncGenerator<Page<T> & Extra, void, undefined> {
    let page: (Page<T> & Extra) | undefined = await this;
    while (page) {
      yield page;
      page = (await page.nextPage()) as (Page<T> & Extra) | undefined;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    const given = new Set<string>();
    for await (const page of this.pages()) {
      for (const item of page.items) {
        const id = (item as Record<string, unknown> | null)?.[this.#idKey ?? ""];
        if (typeof id === "string") {
          if (given.has(id)) continue;
          given.add(id);
        }
        yield item;
      }
    }
  }
}

async function loadPage<T, Extra>(
  source: PageSource,
  cursor: string | undefined,
  seen: ReadonlySet<string>,
): Promise<WithResponse<Page<T> & Extra>> {
  const answer = await source.fetch(cursor);
  const { [source.itemsKey]: items, ...rest } = answer.data as Record<string, unknown>;
  if (!Array.isArray(items)) throw invalid(source, answer, `has no list "${source.itemsKey}"`);
  const next = source.cursorKey === undefined ? undefined : rest[source.cursorKey];
  if (source.cursorKey !== undefined) delete rest[source.cursorKey];
  const page: Record<string, unknown> = { ...rest, items };
  // Absent is documented; null and "" have been seen elsewhere in this API, and neither can be a position.
  const nextCursor = typeof next === "string" && next !== "" ? next : undefined;
  if (nextCursor !== undefined) {
    if (seen.has(nextCursor)) throw invalid(source, answer, "names a next page that was already read");
    page["nextCursor"] = nextCursor;
  }
  Object.defineProperty(page, "nextPage", {
    value: async () => {
      if (nextCursor === undefined) return undefined;
      return (await loadPage(source, nextCursor, new Set([...seen, nextCursor]))).data;
    },
  });
  return { ...answer, data: page as unknown as Page<T> & Extra };
}

function invalid(source: { path: string }, answer: WithResponse<object>, problem: string): ApiError {
  const { status } = answer.response;
  const code = "invalid_response";
  return new ApiError(`GET ${source.path} -> ${status} ${code}: the page ${problem}`, {
    status,
    method: "GET",
    path: source.path,
    code,
    requestId: answer.requestId,
  });
}
