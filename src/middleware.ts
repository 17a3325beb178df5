/** The request that a {@link Middleware} looks at. */
export interface MiddlewareCall {
  /** As it would be sent, but without the key. */
  request: Request;
  /** The path with its placeholders: `/v1/agents/{id}`. */
  readonly schemaPath: string;
  /** What fills the placeholders, the query and the headers. */
  readonly params: {
    query?: Record<string, unknown>;
    header?: Record<string, unknown>;
    path?: Record<string, unknown>;
    cookie?: Record<string, unknown>;
  };
  /** The same in all hooks of one attempt. */
  readonly id: string;
  readonly options: { readonly baseUrl: string };
}

/**
 * Sees every attempt of every request: one hook at least. It is openapi-fetch's middleware, and takes what is written
 * for that.
 *
 * @example
 * const timing: Middleware = {
 *   onRequest({ request }) {
 *     request.headers.set("x-trace", crypto.randomUUID());
 *   },
 * };
 */
export interface Middleware {
  /** Before it is sent. Returns another request to send, a response to take for the answer, or nothing. */
  onRequest?(
    call: MiddlewareCall,
  ): Request | Response | undefined | void | Promise<Request | Response | undefined | void>;
  /** Behind the answer. Returns another response, or nothing; clones a body before it reads it. */
  onResponse?(
    call: MiddlewareCall & { response: Response },
  ): Response | undefined | void | Promise<Response | undefined | void>;
  /** Behind a failure without an answer. Returns a response to take for one, another error, or nothing. */
  onError?(
    call: MiddlewareCall & { error: unknown },
  ): Response | Error | undefined | void | Promise<Response | Error | undefined | void>;
}
