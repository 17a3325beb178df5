import type { OperationId } from "../../generated/openapi.ts";
import { bytesSource, interruptedSource, toBytes } from "./body-source.ts";
import {
  bool,
  type Check,
  checkOptions,
  content,
  count,
  duration,
  either,
  enforce,
  name,
  type OptionTable,
  oneOf,
  record,
  times,
  whole,
} from "./check-options.ts";
import { type Answer, type HeaderEntries, isSource, json, type RecordedRequest } from "./exchange.ts";
import { callUser } from "./failed-response.ts";
import { type FailureName, failureNames, failureOf } from "./failures.ts";

/** The requests that a fault is for: an operationId (`getArtifactBytes` for the storage), `"*"` for all, or a predicate. */
export type FaultTarget = OperationId | "getArtifactBytes" | "*" | ((request: RecordedRequest) => boolean);

/** @internal */
export type Fault =
  | {
      kind: "status";
      status: number;
      body: Uint8Array | string | object | undefined;
      headers: Record<string, string>;
    }
  | { kind: "interrupt"; stall: boolean; clean: boolean; afterBytes?: number; afterEvents?: number }
  | { kind: "silence" }
  | { kind: "delay"; ms: number }
  | { kind: "drop-answer" }
  | { kind: "drop-request" };

/** How many requests a fault applies to. */
export interface FaultTimes {
  /** `Infinity` for always. @default 1 */
  times?: number;
}

/** The answer of a {@link Faults.status} fault. */
export interface StatusFaultOptions extends FaultTimes {
  /** Strings and bytes are sent unchanged, other values as JSON. @default the error envelope with a code that fits the status */
  body?: string | Uint8Array | object;
  /** Code of the default body. */
  code?: string;
  /** Headers of the answer. A string body has no content type unless it is given here. */
  headers?: Record<string, string>;
}

/** The answer of a {@link Faults.failure} fault. */
export interface FailureFaultOptions extends FaultTimes {
  /** More headers, such as `Retry-After`. */
  headers?: Record<string, string>;
}

/** Where a body is interrupted. @default right after the headers */
export interface InterruptionOptions extends FaultTimes {
  /** Whole SSE frames that still get through. */
  afterEvents?: number;
  /** Bytes that still get through. */
  afterBytes?: number;
}

const codes: Readonly<Record<number, string>> = {
  400: "validation_error",
  401: "unauthorized",
  403: "role_forbidden",
  404: "agent_not_found",
  409: "agent_busy",
  410: "stream_expired",
  429: "rate_limit_exceeded",
  500: "internal_error",
  501: "not_implemented",
  502: "upstream_error",
  503: "stream_unavailable",
};

const timesOptions: OptionTable<FaultTimes> = { times };

/** Header values are texts; a number would be sent as one, but its type says that it isn't meant. */
const headers: Check = (value) =>
  record(value, "") ??
  (Object.values(value as object).every((text) => typeof text === "string") ? undefined : "texts");

const statusOptions: OptionTable<StatusFaultOptions> = {
  times,
  body: either(content, (value) =>
    typeof value === "object" && value !== null ? undefined : "a string, bytes or an object",
  ),
  code: name,
  headers,
};

const interruptionOptions: OptionTable<InterruptionOptions> = {
  times,
  afterEvents: count,
  afterBytes: count,
};

interface Planned {
  target: FaultTarget;
  fault: Fault;
  left: number;
}

/**
 * Plans faults. Each one applies to the next request that matches its target, once unless `times` is given. If several
 * match one request, the oldest of each kind applies. `status` replaces the work of the operation; with the other faults
 * the operation does its work.
 *
 * @example
 * emulator.faults.dropAnswer("createAgent").cut("streamRun", { afterEvents: 3 });
 */
export class Faults {
  readonly #operations: readonly string[];
  #planned: Planned[] = [];
  #ignoredPositions = 0;
  #rejectedPositions = 0;

  /** Answers with a status instead of doing the work. */
  status(operation: FaultTarget, status: number, options: StatusFaultOptions = {}): this {
    enforce(status, whole(200, 599), "CursorEmulator: faults.status: status");
    checkOptions("CursorEmulator: faults.status", options, statusOptions);
    const code = options.code ?? codes[status];
    const fallback =
      status < 400 ? undefined : { error: { code: code ?? "error", message: `Fault ${status}` } };
    const body = options.body ?? fallback;
    return this.#plan(operation, { kind: "status", status, body, headers: options.headers ?? {} }, options);
  }

  /**
   * Answers with a failed response as the service was seen to send it, or with any error code of the contract, instead of
   * doing the work. Beside the codes: `included_usage_exhausted` (429 about the account's money), `usage_pricing_required` and
   * `hard_limit_reached` (400 `usage_limit_exceeded`), `several_repositories`, `branch_not_verified`, `commit_not_verified`
   * and `default_branch_not_found` (400 `validation_error`; the last three may pass the next time).
   */
  failure(operation: FaultTarget, name: FailureName, options: FailureFaultOptions = {}): this {
    enforce(name, oneOf(...failureNames), "CursorEmulator: faults.failure: name");
    checkOptions("CursorEmulator: faults.failure", options, { times, headers });
    const { status, body } = failureOf(name);
    return this.#plan(operation, { kind: "status", status, body, headers: options.headers ?? {} }, options);
  }

  /** Does the work, then destroys the connection within the body, or (`clean`) ends the body as if it were complete. */
  cut(operation: FaultTarget, options: InterruptionOptions & { clean?: boolean } = {}): this {
    checkOptions("CursorEmulator: faults.cut", options, { ...interruptionOptions, clean: bool });
    const { times: _times, clean = false, ...point } = options;
    return this.#plan(operation, { kind: "interrupt", stall: false, clean, ...point }, options);
  }

  /** Does the work, then sends nothing more from within the body on, or (`beforeHeaders`) no answer at all. The socket stays open. */
  stall(operation: FaultTarget, options: InterruptionOptions & { beforeHeaders?: boolean } = {}): this {
    checkOptions("CursorEmulator: faults.stall", options, { ...interruptionOptions, beforeHeaders: bool });
    const { times: _times, beforeHeaders = false, ...point } = options;
    if (beforeHeaders) return this.#plan(operation, { kind: "silence" }, options);
    return this.#plan(operation, { kind: "interrupt", stall: true, clean: false, ...point }, options);
  }

  /** Does the work, then answers `ms` milliseconds later. */
  delay(operation: FaultTarget, ms: number, options: FaultTimes = {}): this {
    enforce(ms, duration, "CursorEmulator: faults.delay: ms");
    checkOptions("CursorEmulator: faults.delay", options, timesOptions);
    return this.#plan(operation, { kind: "delay", ms }, options);
  }

  /** Does the work, then destroys the connection before any byte of the answer. */
  dropAnswer(operation: FaultTarget, options: FaultTimes = {}): this {
    checkOptions("CursorEmulator: faults.dropAnswer", options, timesOptions);
    return this.#plan(operation, { kind: "drop-answer" }, options);
  }

  /** Destroys the connection before doing any work. */
  dropRequest(operation: FaultTarget, options: FaultTimes = {}): this {
    checkOptions("CursorEmulator: faults.dropRequest", options, timesOptions);
    return this.#plan(operation, { kind: "drop-request" }, options);
  }

  /** Streams ignore `Last-Event-ID` and replay from the start. Until {@link Faults.clear} unless `times` is given. */
  ignorePosition(options: FaultTimes = {}): this {
    checkOptions("CursorEmulator: faults.ignorePosition", options, timesOptions);
    this.#ignoredPositions = options.times ?? Number.POSITIVE_INFINITY;
    return this;
  }

  /** Streams answer a valid `Last-Event-ID` with 400 `invalid_last_event_id`. Once unless `times` is given. */
  refusePosition(options: FaultTimes = {}): this {
    checkOptions("CursorEmulator: faults.refusePosition", options, timesOptions);
    this.#rejectedPositions = options.times ?? 1;
    return this;
  }

  /** Forgets all faults that are still planned. */
  clear(): void {
    this.#planned = [];
    this.#ignoredPositions = 0;
    this.#rejectedPositions = 0;
  }

  /** Takes one planned rejection of a stream's position. @internal */
  takeRejectedPosition(): boolean {
    return this.#rejectedPositions > 0 && this.#rejectedPositions-- > 0;
  }

  /** Takes one planned disregard of a stream's position. @internal */
  takeIgnoredPosition(): boolean {
    return this.#ignoredPositions > 0 && this.#ignoredPositions-- > 0;
  }

  /** Takes the oldest planned fault of a kind that matches this request. @internal */
  take<Kind extends Fault["kind"]>(
    kind: Kind,
    request: RecordedRequest,
  ): Extract<Fault, { kind: Kind }> | undefined {
    const found = this.#planned.find(
      ({ target, fault, left }) =>
        left > 0 &&
        fault.kind === kind &&
        (typeof target === "function"
          ? callUser("the predicate of a fault", () => target(request))
          : target === "*" || target === request.operationId),
    );
    if (found === undefined) return undefined;
    found.left -= 1;
    if (found.left <= 0) this.#planned = this.#planned.filter((planned) => planned !== found);
    return found.fault as Extract<Fault, { kind: Kind }>;
  }

  /** @internal */
  constructor(operationIds: readonly string[]) {
    this.#operations = [...operationIds, "getArtifactBytes", "*"];
  }

  #plan(target: FaultTarget, fault: Fault, options: FaultTimes): this {
    // A fault that never applies would let a test pass that tests nothing.
    if (typeof target !== "function" && !this.#operations.includes(target)) {
      throw new TypeError(
        `CursorEmulator: unknown operation "${target}"; expected one of ${this.#operations.join(", ")}`,
      );
    }
    this.#planned.push({ target, fault, left: options.times ?? 1 });
    return this;
  }
}

/** The answer of a `status` fault. @internal */
export function statusAnswer(fault: Extract<Fault, { kind: "status" }>): Answer {
  const headers: HeaderEntries = Object.entries(fault.headers);
  const { body, status } = fault;
  if (body === undefined) return { status, headers, body: new Uint8Array() };
  if (typeof body === "string") return { status, headers, body: toBytes(body) };
  if (ArrayBuffer.isView(body)) return { status, headers, body: body as Uint8Array };
  const answer = json(status, body);
  const own = new Set(headers.map(([name]) => name.toLowerCase()));
  return { ...answer, headers: [...answer.headers.filter(([name]) => !own.has(name)), ...headers] };
}

/** Interrupts the body of an answer by a cut or a stall. @internal */
export function interruptAnswer(answer: Answer, fault: Extract<Fault, { kind: "interrupt" }>): Answer {
  const source = isSource(answer.body) ? answer.body : bytesSource(answer.body);
  return { ...answer, body: interruptedSource(source, fault) };
}
