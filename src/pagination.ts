import { ApiPromise, type WithResponse } from "./api-promise.ts";
import { ApiError } from "./errors.ts";

/** One page of a list. Its other fields (`totalCount`, `streamCursor`, …) are on it, too. */
export interface Page<T> {
  /** The items of the page; an empty page need not be the last one. */
  items: T[];
  /** The page cursor of the next page, an opaque string; absent on the last page. */
  nextCursor?: string;
  /** Loads the next page; undefined when this is the last one. */
  nextPage(): Promise<Page<T> | undefined>;
}

/** The names of the fields on the pages of one list endpoint; they differ from endpoint to endpoint. */
export interface PageNames {
  itemsKey: string;
  /** Absent where the list has no pages. */
  cursorKey?: string;
  /** The field that identifies an item, so that one that moves to a later page during the iteration is yielded once. */
  idKey?: string;
}

/** Where the pages of a list come from. */
export interface PageSource extends PageNames {
  /** Loads the page at the page cursor; without one, the first page. */
  fetch(cursor: string | undefined): Promise<WithResponse<object>>;
  /** The page cursor that the caller starts from. */
  from?: string | undefined;
  path: string;
}

/**
 * A list: await it for the first page, or iterate it for every item of every page. Nothing is sent before that, and the
 * next page is loaded only when the items of the current one have been consumed.
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

  /** Iterates over the pages, from the first one on. */
  async *pages(): AsyncGenerator<Page<T> & Extra, void, undefined> {
    let page: (Page<T> & Extra) | undefined = await this;
    while (page) {
      yield page;
      page = (await page.nextPage()) as (Page<T> & Extra) | undefined;
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    const yielded = new Set<string>();
    for await (const page of this.pages()) {
      for (const item of page.items) {
        const id = (item as Record<string, unknown> | null)?.[this.#idKey ?? ""];
        if (typeof id === "string") {
          if (yielded.has(id)) continue;
          yielded.add(id);
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
  // By the documentation the field is absent on the last page. Some endpoints send null or "" instead, and neither can be a
  // page cursor.
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
