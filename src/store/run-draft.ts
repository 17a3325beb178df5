import type { RunEvent, RunEventData, RunStatus, TranscriptTool } from "../index.ts";
import { fromSimplified, mergeToolStates } from "../runs/transcript.ts";
import type { RunPart, RunToolPart } from "./run-snapshot.ts";

/** What is saved of a run: enough to show it and to continue after it. Plain JSON. */
export interface RunRecord {
  /** The resume position: the id of the last event that the record includes. */
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
 * A run as it grows, event by event. Unlike a transcript it is changed in place: an event replaces one part, and the list
 * of parts is copied only when it is read. So the cost of an event does not depend on how many came before it.
 */
export class RunDraft {
  position: string | undefined;
  runId: string | undefined;
  text = "";
  runStatus: RunStatus | undefined;
  result: RunEventData["result"] | undefined;
  /** Nothing more arrives. */
  isOver = false;
  #firstId: string | undefined;
  #parts: RunPart[] = [];
  /** The index of each tool call's part, by its `callId`. */
  #tools = new Map<string, number>();
  /** The copy that `parts` returned last; undefined after a change. */
  #copy: readonly RunPart[] | undefined = [];

  /** The parts as an immutable list: the same one until something changes. */
  get parts(): readonly RunPart[] {
    this.#copy ??= this.#parts.slice();
    return this.#copy;
  }

  /** Forgets everything. */
  clear(): void {
    this.position = this.runId = this.runStatus = this.result = this.#firstId = undefined;
    this.text = "";
    this.isOver = false;
    if (this.#parts.length > 0) this.#copy = undefined;
    this.#parts = [];
    this.#tools.clear();
  }

  /** Replaces everything by a saved run. */
  restore(record: RunRecord): void {
    this.clear();
    this.position = record.position;
    this.#firstId = record.firstId;
    this.runId = record.runId;
    this.runStatus = record.runStatus;
    this.result = record.result;
    this.isOver = record.isOver === true;
    this.#parts = [...record.parts];
    this.#copy = undefined;
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
      // The run's first event again: the server ignored the position and sends the run from its start. (Consecutive
      // events may share an id.)
      if (id === this.#firstId && id !== this.position) this.clear();
      this.#firstId ??= id;
      this.position = id;
    }
    if (event.type === "status") this.#setStatus(event.data);
    else if (event.type === "result") this.#end(event.data, event.synthesized === true);
    else {
      // Only the simplified family: interaction updates would repeat its content.
      const { text, thinking, tool } = fromSimplified(event) ?? {};
      if (text !== undefined) this.#append("text", text);
      if (thinking !== undefined) this.#append("reasoning", thinking);
      if (tool) this.#putTool(tool);
    }
  }

  #append(type: "text" | "reasoning", text: string): void {
    if (text === "") return;
    if (type === "text") this.text += text;
    const index = this.#parts.length - 1;
    const last = this.#parts[index];
    if (last?.type === type) this.#parts[index] = { ...last, text: last.text + text };
    else this.#parts.push({ type, id: `${type}-${this.#parts.length}`, text });
    this.#copy = undefined;
  }

  #putTool(tool: TranscriptTool): void {
    const { callId } = tool;
    const index = this.#tools.get(callId) ?? this.#parts.length;
    const earlier = this.#parts[index] as RunToolPart | undefined;
    this.#parts[index] = { ...mergeToolStates(earlier, tool), type: "tool", id: `tool-${callId}` };
    this.#tools.set(callId, index);
    this.#copy = undefined;
  }

  #setStatus({ runId, status }: { runId?: string | undefined; status: RunStatus }): void {
    if (runId !== undefined) {
      // The state belongs to one run: another run's events must not be added to it.
      if (this.runId !== undefined && runId !== this.runId) this.clear();
      this.runId = runId;
    }
    this.runStatus = status;
  }

  #end(result: RunEventData["result"], isSynthesized: boolean): void {
    this.#setStatus(result);
    this.result = result;
    this.isOver = true;
    // Without a stream, the result's text is the whole reply; after a stream that broke off, it holds the missing end.
    const { text } = result;
    if (typeof text === "string" && (isSynthesized || this.text === "") && text.startsWith(this.text)) {
      this.#append("text", text.slice(this.text.length));
    }
  }
}
