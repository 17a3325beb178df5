import type { WithResponse } from "../api-promise.ts";
import { orAbort } from "../clock.ts";
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
  #current: { answer: Promise<Answer>; at: number | undefined } | undefined;

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
  list(query: { fresh?: boolean | undefined } = {}, options: RequestOptions = {}): PagePromise<Repository> {
    return new PagePromise<Repository>({
      path: "/v1/repositories",
      itemsKey: "items",
      fetch: async () => {
        const signal = checkSignal(options.signal);
        signal?.throwIfAborted();
        const { data, ...around } = await orAbort(this.#answer(query?.fresh === true, options), signal);
        // A copy of the list for each caller: sorting it must not sort everyone's.
        return { ...around, data: { ...data, items: [...data.items] } };
      },
    });
  }

  #answer(isFresh: boolean, { signal: _, ...options }: RequestOptions): Promise<Answer> {
    const { clock } = this.#transport.settings;
    const { at } = this.#current ?? {};
    const isUsable = this.#current && (at === undefined || (!isFresh && clock.now() - at < rememberedFor));
    if (this.#current && isUsable) return this.#current.answer;
    // Shared, so no single caller's signal ends it.
    const answer = this.#transport.run<{ items: Repository[] }>(
      (client, init) => client.GET("/v1/repositories", init),
      { timeout },
      options,
    );
    const current = { answer, at: undefined as number | undefined };
    this.#current = current;
    answer.then(
      () => {
        current.at = clock.now();
      },
      () => {
        if (this.#current === current) this.#current = undefined;
      },
    );
    return answer;
  }
}
