import type { Cursor, CursorOptions, RunEvent, RunStreamOptions } from "cursor-cloud-agents";
import {
  type Connection,
  FakeApi,
  type FakeApiOptions,
  type RecordedRequest,
  reply,
  unexpected,
} from "./fake-api.ts";
import { ref, runId, runOf } from "./sample-run.ts";
import { collect } from "./waiting.ts";

type Answers<T> = readonly T[] | ((request: RecordedRequest, index: number) => T);

export interface StreamServerOptions extends FakeApiOptions {
  /** Answers to Get A Run, in order; the last one stays. A string is a status. */
  runs?: Answers<string | object>;
  /** Every other request: a connection, or the JSON of a successful response. */
  other?: (request: RecordedRequest) => object;
}

const isConnection = (answer: object): answer is Connection => "chunks" in answer;
const toConnection = (answer: object): Connection => (isConnection(answer) ? answer : reply(200, answer));

/** The fake API of one run: requests for its stream get these connections in order. */
export class StreamServer extends FakeApi {
  readonly #connections: Answers<Connection>;
  readonly #options: StreamServerOptions;

  constructor(connections: Answers<Connection>, options: StreamServerOptions = {}) {
    super([], options);
    this.#connections = connections;
    this.#options = options;
  }

  get streams(): RecordedRequest[] {
    return this.requests.filter(({ path }) => path.endsWith("/stream"));
  }
  get lookups(): RecordedRequest[] {
    return this.requests.filter(({ method, path }) => method === "GET" && path.endsWith(`/runs/${runId}`));
  }
  /** The resume position each stream request asked for. */
  get positions(): (string | undefined)[] {
    return this.streams.map(({ lastEventId }) => lastEventId);
  }
  get openBodies(): number {
    return this.requests.filter(({ open }) => open).length;
  }

  override cursor(options: CursorOptions = {}): Cursor {
    return super.cursor({ random: () => 1, ...options });
  }

  /** Nothing here does real I/O: a few turns show that all is quiet. */
  override run<T>(promise: PromiseLike<T>): Promise<T> {
    return this.clock.run(Promise.resolve(promise), { turns: 4 });
  }

  protected override answer(request: RecordedRequest): Connection {
    if (request.path.endsWith("/stream"))
      return pick(this.#connections, request, this.streams.length - 1, "stream");
    if (this.lookups.at(-1) === request) {
      const { runs = [] } = this.#options;
      const index = this.lookups.length - 1;
      const run = pick(
        runs,
        request,
        Array.isArray(runs) ? Math.min(index, runs.length - 1) : index,
        "Get A Run",
      );
      return toConnection(typeof run === "string" ? runOf(run) : run);
    }
    const answer = this.#options.other?.(request);
    if (!answer) throw unexpected(request);
    return toConnection(answer);
  }
}

function pick<T>(answers: Answers<T>, request: RecordedRequest, index: number, what: string): T {
  const answer = typeof answers === "function" ? answers(request, index) : answers[index];
  if (answer === undefined) throw new RangeError(`${what} request ${index + 1} was not expected`);
  return answer;
}

/** Reads a whole stream while the fake time passes. */
export const readAll = (server: StreamServer, options: RunStreamOptions = {}): Promise<RunEvent[]> =>
  server.run(collect(server.cursor().runs.stream(ref, options)));
