import type { Transport } from "../http/transport.ts";
import type { RequestOptions } from "../options.ts";
import type { PagePromise } from "../pagination.ts";
import type { Model } from "../types.ts";
import { listPages, onePage } from "./list.ts";

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
  list(options?: RequestOptions): PagePromise<Model> {
    return listPages(this.#transport, "/v1/models", { names: onePage }, options);
  }
}
