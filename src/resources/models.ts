import type { Transport } from "../http/transport.ts";
import type { RequestOptions } from "../options.ts";
import { PagePromise } from "../pagination.ts";
import type { Model } from "../types.ts";

/** Models. */
export class Models {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * The recommended models, with the parameters and variants each accepts; one page. Others may work, too.
   * @see List Models
   */
  list(options: RequestOptions = {}): PagePromise<Model> {
    return new PagePromise<Model>({
      path: "/v1/models",
      itemsKey: "items",
      fetch: () => this.#transport.run((client, init) => client.GET("/v1/models", init), {}, options),
    });
  }
}
