import type { WithResponse } from "../api-promise.ts";
import { join, type Shared } from "../http/shared-work.ts";
import type { Transport } from "../http/transport.ts";
import { checkSignal, type RequestOptions } from "../options.ts";
import { PagePromise } from "../pagination.ts";
import type { Repository } from "../types.ts";

type Answer = WithResponse<{ items: Repository[] }>;

const timeout = 120_000;
/** The API answers once a minute per user. */
const rememberedFor = 60_000;

/** The repositories that Cursor can reach for the user. */
export class Repositories {
  readonly #transport: Transport;
  #underWay = new Map<"list", Shared<Answer>>();
  #remembered: { answer: Answer; at: number } | undefined;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * The repositories; one page. The API allows one request a minute and 30 an hour, and may take tens of seconds: so
   * callers share a request under way, and an answer is given again for a minute.
   * @param query.fresh Ask anew, whatever is remembered.
   * @throws ApiError `rate_limit_exceeded` with `retryAfterMs`: be ready to do without
   * @see List GitHub Repositories
   */
  list(query: { fresh?: boolean | undefined } = {}, options?: RequestOptions): PagePromise<Repository> {
    return new PagePromise<Repository>({
      path: "/v1/repositories",
      itemsKey: "items",
      fetch: async () => {
        const { data, ...around } = await this.#answer(query?.fresh === true, options);
        // A copy of the list for each caller: sorting it must not sort everyone's.
        const { items } = data;
        return { ...around, data: { ...data, items: Array.isArray(items) ? [...items] : items } };
      },
    });
  }

  async #answer(isFresh: boolean, options?: RequestOptions): Promise<Answer> {
    const signal = checkSignal(options?.signal);
    signal?.throwIfAborted();
    const { clock } = this.#transport.settings;
    const remembered = this.#remembered;
    if (remembered && !isFresh && clock.now() - remembered.at < rememberedFor) return remembered.answer;
    // Shared, so no single caller's signal ends it; the last one's does, lest it hold a process that is done.
    return join(this.#underWay, "list", signal, async (shared) => {
      this.#remembered = undefined;
      const answer = await this.#transport.run(
        "GET",
        "/v1/repositories",
        undefined,
        { timeout },
        { ...options, signal: shared },
      );
      this.#remembered = { answer, at: clock.now() };
      return answer;
    });
  }
}
