/**
 * What openapi-fetch builds instead of a `Request` where no middleware will see it: a real one costs more than all the
 * rest of a call, and nobody would look at it but our own fetch.
 */
export class PlainRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | null;
  readonly signal: AbortSignal;
  readonly redirect = "manual";

  constructor(
    url: string,
    init: { method: string; headers: Headers; body: string | undefined; signal: AbortSignal },
  ) {
    this.url = url;
    this.method = init.method;
    this.headers = init.headers;
    this.body = init.body ?? null;
    this.signal = init.signal;
  }
}
