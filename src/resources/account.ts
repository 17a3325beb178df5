import type { ApiPromise } from "../api-promise.ts";
import type { Transport } from "../http/transport.ts";
import type { RequestOptions } from "../options.ts";
import type { ApiKeyInfo } from "../types.ts";

/** Whose key it is. */
export function getApiKeyInfo(transport: Transport, options?: RequestOptions): ApiPromise<ApiKeyInfo> {
  return transport.call("GET", "/v1/me", undefined, {}, options);
}
