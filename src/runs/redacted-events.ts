import { placeholder, type Redactor, type Span, shortestInText } from "../http/redact.ts";
import type { RunEvent } from "./events.ts";

/** An event whose `data.text` continues the text of the earlier events of its kind. */
type Delta = RunEvent & { data: { text: string } };

/** The end of a text that was delivered already, and that a secret may have begun in. */
interface Delivered {
  text: string;
  /** Whether the reader got the placeholder in its stead. */
  isHidden: boolean;
}

const nothing: Delivered = { text: "", isHidden: false };

/** A beginning of a secret that is shorter than this may be shown where its rest can't be waited for. */
const shortestBeginning = 8;
/** More than the characters of a secret in any form, so that only deltas without text can reach it. */
const mostHeld = 2_000;

/**
 * Replaces secrets in events, including those that are spread over several deltas. A delta whose end may begin a secret
 * is held back as a whole, id and all, until the next event: whoever resumes from the last id received gets it again.
 */
export class EventRedactor {
  readonly #redactor: Redactor;
  /** Deltas of one kind that were not delivered yet. */
  #held: Delta[] = [];
  /** For each kind of delta, its end as it was delivered; missing where no secret can begin in it. */
  readonly #delivered = new Map<string, Delivered>();

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  /** The events that can be delivered now that this one is here. */
  push(event: RunEvent): RunEvent[] {
    if (!isDelta(event)) return [...this.flush(), this.#withoutSecrets(event)];
    const isOther = this.#held[0] !== undefined && kindOf(this.#held[0]) !== kindOf(event);
    const before = isOther ? this.flush() : [];
    this.#held.push(event);
    const { text, start } = this.#text();
    const open = this.#redactor.openEnd(text, shortestInText);
    let end = start;
    let count = 0;
    while (count < this.#held.length) {
      const next = end + (this.#held[count] as Delta).data.text.length;
      if (open > 0 && next > text.length - open) break;
      end = next;
      count++;
    }
    const events = [...before, ...this.#release(count, this.#find(text))];
    return this.#held.length < mostHeld ? events : [...events, ...this.flush()];
  }

  /** The events that are still held back, where their secrets' rest can't be waited for. */
  flush(): RunEvent[] {
    const [first] = this.#held;
    if (!first) return [];
    const { text, isHidden } = this.#text();
    const open = this.#redactor.openEnd(text, shortestInText);
    const tail = { start: text.length - open, end: text.length };
    const carried = this.#delivered.get(kindOf(first))?.text.length ?? 0;
    const hides = open >= shortestBeginning || (isHidden && tail.start < carried);
    const spans = this.#find(text);
    const events = this.#release(this.#held.length, hides ? [...spans, tail] : spans);
    if (open > 0) this.#delivered.set(kindOf(first), { text: text.slice(tail.start), isHidden: hides });
    return events;
  }

  /** What was delivered of this kind as far as it matters, then what is held back. */
  #text(): Delivered & { start: number } {
    const kind = this.#held[0] && kindOf(this.#held[0]);
    const { text, isHidden } = (kind !== undefined && this.#delivered.get(kind)) || nothing;
    const held = this.#held.map(({ data }) => data.text).join("");
    return { text: text + held, isHidden, start: text.length };
  }

  #find(text: string): Span[] {
    return this.#redactor.find(text, shortestInText);
  }

  /** Takes the first deltas off those that are held back, without the spans of the whole text. */
  #release(count: number, spans: Span[]): RunEvent[] {
    const [first] = this.#held;
    if (!first || count === 0) return [];
    const { text, isHidden, start } = this.#text();
    let from = start;
    const events = this.#held.splice(0, count).map((event) => {
      const to = from + event.data.text.length;
      // A placeholder stands where its secret begins; if that was delivered before, at the beginning of the rest.
      const isNew = (span: Span) => (span.start >= start ? span.start >= from : from === start && !isHidden);
      const shown = cut(text, { start: from, end: to }, spans, isNew);
      from = to;
      return this.#withoutSecrets({ ...event, data: { ...event.data, text: shown } } as RunEvent);
    });
    const crossing = spans.find((span) => span.start < from && from < span.end);
    if (crossing)
      this.#delivered.set(kindOf(first), { text: text.slice(crossing.start, from), isHidden: true });
    else this.#delivered.delete(kindOf(first));
    return events;
  }

  /** The event itself where there is no secret in it. */
  #withoutSecrets<Event extends RunEvent>(event: Event): Event {
    const redact = (text: string) => this.#redactor.text(text, shortestInText);
    const json = JSON.stringify(event);
    return redact(json) === json ? event : (mapTexts(event, redact) as Event);
  }
}

/** Reads events as they are pulled, without the secrets. Whoever returns early ends the reading of the source, too. */
export function redactEvents(
  source: AsyncIterator<RunEvent>,
  redactor: Redactor,
): AsyncIterableIterator<RunEvent, undefined> {
  const events = redacted(source, new EventRedactor(redactor));
  return {
    next: () => events.next(),
    return: async () => {
      // First, since the generator returns only after the event that it waits for.
      await source.return?.();
      return events.return(undefined);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

async function* redacted(
  source: AsyncIterator<RunEvent>,
  redactor: EventRedactor,
): AsyncGenerator<RunEvent, undefined> {
  try {
    for (let next = await source.next(); !next.done; next = await source.next()) {
      yield* redactor.push(next.value);
    }
  } catch (error) {
    yield* redactor.flush();
    throw error;
  }
  yield* redactor.flush();
}

function isDelta(event: RunEvent): event is Delta {
  const { type, data } = event as { type: string; data?: { text?: unknown } | null };
  return type !== "result" && typeof data?.text === "string";
}

/** The text of an `interaction_update` is of the kind that its own type names. */
function kindOf(event: RunEvent): string {
  const { type, name, data } = event as { type: string; name?: string; data?: { type?: unknown } };
  return JSON.stringify([type, name, data?.type]);
}

/** A part of a text without the spans in it; those that are new become the placeholder. */
function cut(text: string, part: Span, spans: Span[], isNew: (span: Span) => boolean): string {
  let shown = "";
  let at = part.start;
  for (const span of spans) {
    if (span.end <= at || span.start >= part.end) continue;
    shown += text.slice(at, Math.max(at, span.start)) + (isNew(span) ? placeholder : "");
    at = Math.min(span.end, part.end);
  }
  return shown + text.slice(at, part.end);
}

/** A copy of a JSON value in which each text, names included, is replaced. */
function mapTexts(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === "string") return replace(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, replace));
  // Not by assignment, which would take the name `__proto__` for the object's prototype.
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [replace(name), mapTexts(item, replace)]),
  );
}
