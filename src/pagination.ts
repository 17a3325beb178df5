import { ApiPromise, type WithResponse } from "./api-promise.ts";
import { ApiError } from "./errors.ts";

/** One page of a list. Its other fields (`totalCount`, `streamCursor`, …) are on it, too. */
export interface Page<T> {
  /** The items of the page; an empty page need not be the last one. */
  items: T[];
  /** The page cursor of the next page; absent on the last one, and where it leads back to a page already read. Opaque. */
  nextCursor?: string;
  /**
   * Requests the next page; undefined when this is the last one.
   * @throws ApiError `invalid_response` when the server names a page that was already read as the next one, after 500
   *   empty pages in a row, and after 10,000 pages
   */
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

/** A walk gives up after so many pages, and so many in a row without a new item: a list without end must not hold it. */
const mostPages = 10_000;
const mostEmptyPages = 500;

/**
 * A list: await it for the first page, or iterate it for every item of every page. Nothing is sent before that, and the
 * next page is loaded only when the items of the current one have been consumed.
 *
 * @example
 * for await (const agent of cursor.agents.list()) console.log(agent.id);
 */
export class PagePromise<T, Extra = unknown> extends ApiPromise<Page<T> & Extra> implements AsyncIterable<T> {
  readonly #source: PageSource;

  /** @internal */
  constructor(source: PageSource) {
    super(() => loadPage(source, Walk.start(source.from)));
    this.#source = source;
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
    const { idKey = "" } = this.#source;
    const yielded = new Set<string>();
    let withoutNews = 0;
    for await (const page of this.pages()) {
      withoutNews++;
      for (const item of page.items) {
        const id = (item as Record<string, unknown> | null)?.[idKey];
        if (typeof id === "string") {
          if (yielded.has(id)) continue;
          yielded.add(id);
        }
        withoutNews = 0;
        yield item;
      }
      if (withoutNews >= mostEmptyPages) {
        throw invalid(this.#source, await this.withResponse(), `is one of ${withoutNews} without a new item`);
      }
    }
  }
}

/** Where a walk over a list is: at one page, with the pages before it. */
class Walk {
  /** The page cursors of this page and of those before it, in order; walks that continue this one may have added more. */
  readonly #cursors: Map<string, number>;
  readonly #depth: number;
  /** Empty pages in a row before this one. */
  readonly emptyPages: number;

  private constructor(cursors: Map<string, number>, depth: number, emptyPages: number) {
    this.#cursors = cursors;
    this.#depth = depth;
    this.emptyPages = emptyPages;
  }

  static start(cursor: string | undefined): Walk {
    return cursor === undefined ? new Walk(new Map(), 0, 0) : new Walk(new Map([[cursor, 0]]), 1, 0);
  }

  /** How many pages were requested by their cursor so far. */
  get length(): number {
    return this.#depth;
  }

  hasRead(cursor: string): boolean {
    return (this.#cursors.get(cursor) ?? Number.POSITIVE_INFINITY) < this.#depth;
  }

  /**
   * The walk at the next page. It shares the list of cursors, so that a walk over n pages takes n steps; the list is
   * copied only where this page's next page was requested before.
   */
  next(cursor: string, emptyPages: number): Walk {
    const isTip = this.#cursors.size === this.#depth;
    const cursors = isTip ? this.#cursors : new Map([...this.#cursors].slice(0, this.#depth));
    cursors.set(cursor, this.#depth);
    return new Walk(cursors, this.#depth + 1, emptyPages);
  }
}

async function loadPage<T, Extra>(
  source: PageSource,
  walk: Walk,
  cursor?: string,
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
  const isCircle = nextCursor !== undefined && walk.hasRead(nextCursor);
  const emptyPages = items.length === 0 ? walk.emptyPages + 1 : 0;
  if (nextCursor !== undefined && !isCircle) page["nextCursor"] = nextCursor;
  Object.defineProperty(page, "nextPage", {
    value: async () => {
      if (nextCursor === undefined) return undefined;
      // Reported here, and not when the page arrived: its items are good.
      if (isCircle) throw invalid(source, answer, "names a next page that was already read");
      if (emptyPages >= mostEmptyPages)
        throw invalid(source, answer, `is empty, as ${emptyPages - 1} before it`);
      if (walk.length + 1 >= mostPages) throw invalid(source, answer, `is not the last one of ${mostPages}`);
      return (await loadPage(source, walk.next(nextCursor, emptyPages), nextCursor)).data;
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
