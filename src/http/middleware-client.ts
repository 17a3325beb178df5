import createClient from "openapi-fetch";
import type { Settings } from "../options.ts";
import { type ApiClient, fillPath, toQueryString } from "./api-client.ts";

/** A client whose requests and answers pass the middleware. Loaded when there is some. */
export function createMiddlewareClient({ baseUrl, middleware }: Settings): ApiClient {
  const client = createClient<object>({
    baseUrl,
    // Redirects are never followed: another host must not get the key or the prompt.
    redirect: "manual",
    pathSerializer: fillPath,
    querySerializer: toQueryString,
  });
  client.use(...middleware);
  return client as unknown as ApiClient;
}
