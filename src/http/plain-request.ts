/**
 * What openapi-fetch hands to `fetch` in place of a `Request` where no middleware looks at it: to build a real one takes
 * as long as the rest of the call.
 */
export class PlainRequest {
  readonly url: string;
  readonly init: { method: string; headers: Headers; body?: string };

  constructor(url: string, init: PlainRequest["init"]) {
    this.url = url;
    this.init = init;
  }
}
