import { type ApiClient, type AttemptInit, fillPath, type PlainInit, toQueryString } from "./api-client.ts";

interface Init extends AttemptInit {
  params?: { path?: object; query?: object };
  body?: unknown;
}

/**
 * Says to `fetch` what openapi-fetch would say, for clients without middleware, which are most: it builds no `Request` to
 * be looked at, and saves a tenth of a call's time.
 */
export function createPlainClient(baseUrl: string): ApiClient {
  const call = (method: string) => async (path: string, init: Init) => {
    const { params, body } = init;
    let url = baseUrl + (params?.path ? fillPath(path, params.path) : path);
    const query = params?.query && toQueryString(params.query);
    if (query) url += `?${query}`;
    const plain: PlainInit = { method, headers: init.headers };
    if (body !== undefined) {
      plain.body = init.bodySerializer(body);
      plain.headers = { "content-type": "application/json", ...init.headers };
    }
    const response = await init.fetch(url, plain);
    return response.ok ? { response } : { error: await response.text(), response };
  };
  const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];
  return Object.fromEntries(methods.map((method) => [method, call(method)])) as unknown as ApiClient;
}
