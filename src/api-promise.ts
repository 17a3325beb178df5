/** A call's value, together with its HTTP response. */
export interface WithResponse<T> {
  /** The parsed body. */
  data: T;
  /** The HTTP response; its body has been read. */
  response: Response;
  /** The `x-request-id` of the response, where it had one. */
  requestId?: string;
}

/** A promise of the parsed body; `withResponse()` gives the same value together with the HTTP response. */
export class ApiPromise<T> extends Promise<T> {
  /** Derived promises are plain ones, because they don't represent a request. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  #start: () => Promise<WithResponse<T>>;
  #answer: Promise<WithResponse<T>> | undefined;

  /** @internal */
  constructor(start: () => Promise<WithResponse<T>>) {
    // This promise itself is never settled. Everything goes to the answer, so that one failure is one rejection.
    super(() => {});
    this.#start = start;
  }

  /** A request that is already under way. @internal */
  static of<T>(answer: Promise<WithResponse<T>>): ApiPromise<T> {
    const promise = new ApiPromise(() => answer);
    promise.#answer = answer;
    return promise;
  }

  /** The value together with the HTTP response. Sends nothing again. */
  withResponse(): Promise<WithResponse<T>> {
    this.#answer ??= this.#start();
    return this.#answer;
  }

  // biome-ignore lint/suspicious/noThenProperty: this is a promise
  override then<Fulfilled = T, Rejected = never>(
    onFulfilled?: ((value: T) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    const answer = this.withResponse();
    return onFulfilled
      ? answer.then(({ data }) => onFulfilled(data), onRejected)
      : (answer.then(({ data }) => data, onRejected) as Promise<Fulfilled | Rejected>);
  }

  override catch<Rejected = never>(
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<T | Rejected> {
    return this.then(undefined, onRejected);
  }

  override finally(onFinally?: (() => void) | null): Promise<T> {
    return this.then().finally(onFinally);
  }
}
