import createClient, { type Middleware } from "openapi-fetch";
import type { Settings } from "../options.ts";
import type { ApiClient } from "./api-client.ts";
import { PlainRequest } from "./plain-request.ts";

/** The openapi-fetch client, which turns each operation into a request and passes it through the middleware. */
export function createOpenapiClient({ baseUrl, middleware }: Settings): ApiClient {
  const client = createClient<object>({
    baseUrl,
    // Redirects are never followed: another host must not get the key or the prompt.
    redirect: "manual",
    ...(middleware.length > 0 ? {} : { Request: PlainRequest as unknown as typeof Request }),
  });
  client.use(...(middleware as Middleware[]));
  return client as unknown as ApiClient;
}
