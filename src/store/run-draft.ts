import type { RunEvent, RunEventData, RunStatus } from "../index.ts";
import type { RunPart, RunToolPart } from "./run-snapshot.ts";

/** What is kept of a run: enough to show it and to go on behind it. Plain JSON. */
export interface RunRecord {
  /** The id of the last event in it: where to go on. */
  position?: string;
  /** The id of the run's first event. */
  firstId?: string;
  runId?: string;
  parts: readonly RunPart[];
  runStatus?: RunStatus;
  result?: RunEventData["result"];
  isOver?: true;
}

/**
 * A run as it grows, event by event. One part is replaced per event; the list of parts is copied only when somebody
 * asks for it, so that what an event costs does not depend on how many came before.
 */
export class RunDraft {
  position: string | undefined;
  runId: string | undefined;
  text = "";
  runStatus: RunStatus | undefined;
  result: RunEventData["result"] | undefined;
  /** Nothing more comes. */
  isOver = false;
  #firstId: string | undefined;
  #parts: RunPart[] = [];
  #tools = new Map<string, number>();
  #published: readonly RunPart[] = [];
  #isPublished = true;

  /** The parts as an immutable list: the same one until something changes. */
  get parts(): readonly RunPart[] {
    if (!this.#isPublished) this.#published = this.#parts.slice();
    this.#isPublished = true;
    return this.#published;
  }

  /** Forgets everything. */
  clear(): void {
    this.position = this.runId = this.runStatus = this.result = this.#firstId = undefined;
    this.text = "";
    this.isOver = false;
    if (this.#parts.length > 0) this.#isPublished = false;
    this.#parts = [];
    this.#tools.clear();
  }

  /** Takes over what was kept. */
  restore(record: RunRecord): void {
    this.clear();
    this.position = record.position;
    this.#firstId = record.firstId;
    this.runId = record.runId;
    this.runStatus = record.runStatus;
    this.result = record.result;
    this.isOver = record.isOver === true;
    this.#parts = [...record.parts];
    this.#isPublished = false;
    for (const [index, part] of this.#parts.entries()) {
      if (part.type === "tool") this.#tools.set(part.callId, index);
      if (part.type === "text") this.text += part.text;
    }
  }

  record(): RunRecord {
    const { position, runId, runStatus, result } = this;
    return {
      ...(position === undefined ? {} : { position }),
      ...(this.#firstId === undefined ? {} : { firstId: this.#firstId }),
      ...(runId === undefined ? {} : { runId }),
      parts: this.#parts,
      ...(runStatus === undefined ? {} : { runStatus }),
      ...(result === undefined ? {} : { result }),
      ...(this.isOver ? { isOver: true } : {}),
    };
  }

  add(event: RunEvent): void {
    const { id } = event;
    if (id !== undefined) {
      // The run's first event once more: whoever sends it did not heed the position and begins from the start. (An
      // event may share its id with the one before.)
      if (id === this.#firstId && id !== this.position) this.clear();
      this.#firstId ??= id;
      this.position = id;
    }
    if (event.type === "assistant") this.#append("text", event.data.text);
    else if (event.type === "thinking") this.#append("reasoning", event.data.text);
    else if (event.type === "tool_call") this.#tool(event.data);
    else if (event.type === "status") this.#status(event.data);
    else if (event.type === "result") this.#end(event.data, event.synthesized === true);
  }

  #append(type: "text" | "reasoning", text: string): void {
    if (text === "") return;
    if (type === "text") this.text += text;
    const index = this.#parts.length - 1;
    const last = this.#parts[index];
    if (last?.type === type) this.#parts[index] = { ...last, text: last.text + text };
    else this.#parts.push({ type, id: `${type}-${this.#parts.length}`, text });
    this.#isPublished = false;
  }

  #tool({ callId, name, status, args, result, truncated }: RunEventData["tool_call"]): void {
    const index = this.#tools.get(callId) ?? this.#parts.length;
    const before = this.#parts[index] as RunToolPart | undefined;
    // A later state adds to the earlier one: `completed` may leave out args that `running` had.
    this.#parts[index] = {
      ...before,
      type: "tool",
      id: `tool-${callId}`,
      callId,
      name,
      status,
      ...(args === undefined ? {} : { args }),
      ...(result === undefined ? {} : { result }),
      ...(truncated === undefined ? {} : { truncated: truncated as NonNullable<RunToolPart["truncated"]> }),
    };
    this.#tools.set(callId, index);
    this.#isPublished = false;
  }

  #status({ runId, status }: { runId?: string | undefined; status: RunStatus }): void {
    if (runId !== undefined) {
      // State belongs to one run: what is kept of another must not grow on.
      if (this.runId !== undefined && runId !== this.runId) this.clear();
      this.runId = runId;
    }
    this.runStatus = status;
  }

  #end(result: RunEventData["result"], isSynthesized: boolean): void {
    this.#status(result);
    this.result = result;
    this.isOver = true;
    // Without a stream the reply is all there is; behind a broken one, its end.
    const { text } = result;
    if (typeof text === "string" && (isSynthesized || this.text === "") && text.startsWith(this.text)) {
      this.#append("text", text.slice(this.text.length));
    }
  }
}
