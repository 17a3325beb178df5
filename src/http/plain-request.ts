/**
 * What openapi-fetch hands to `fetch` in place of a `Request` where no middleware looks at it: to build a real one takes
 * as long as the rest of the call.
 */
export class PlainRequest {
  readonly url: string;
  readonly init: RequestInit & { method: string; headers: Headers };

  constructor(url: string, init: PlainRequest["init"]) {
    this.url = url;
    this.init = init;
  }
}
