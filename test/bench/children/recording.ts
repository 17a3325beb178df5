// A run's stream as it looks on the wire, as long as one likes: invented content in the true mix. Two thirds of its
// events are `interaction_update`: a twin behind each simplified event, sharing its id, and `token-delta`s of their own.

const words =
  "the run reads a file, changes two lines of it and tells what it did: größer, 読み込み, done 🎉".split(" ");

export interface RecordingOptions {
  /** Says what an event is called instead; for peers that read only names of their own. */
  rename?: ((event: string) => string) | undefined;
}

/** The agent, the run, and the state of a stream that goes on for ever. */
export function* frames({ rename = (event) => event }: RecordingOptions = {}): Generator<string, never> {
  let time = 1_790_000_000_000;
  let sequence = 0;
  let seed = 42;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  const text = (length: number) => {
    let all = "";
    while (all.length < length) all += ` ${words[random(words.length)]}`;
    return all;
  };
  const next = () => {
    sequence = random(4) === 0 ? sequence + 1 : 0;
    if (sequence === 0) time += 1 + random(300);
    return `${time}-${sequence}`;
  };
  const names = new Map<string, string>();
  const frame = (event: string, data: object, id?: string) => {
    const name = names.get(event) ?? rename(event);
    names.set(event, name);
    return `${id === undefined ? "" : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
  };
  const twins = (simplified: string, data: object, type: string, update: object) => {
    const id = next();
    return frame(simplified, data, id) + frame("interaction_update", { type, ...update }, id);
  };
  const tokens = () => frame("interaction_update", { type: "token-delta", tokens: 1 + random(20) }, next());
  function* toolCall() {
    const callId = `tool_${String(random(1e9)).padStart(32, "0")}`;
    const call = { callId, name: "read_file" };
    const args = { path: `/workspace/example/src/${random(100)}.ts` };
    const result = { success: { content: text(200 + random(1_200)) } };
    const update = (result?: object) => ({ callId, toolCall: { type: "read", args, result } });
    yield frame("tool_call", { ...call, status: "running" }, next());
    const running = { ...call, status: "running", args };
    yield twins("tool_call", running, "partial-tool-call", update());
    yield twins("tool_call", running, "tool-call-started", update()) + tokens();
    const completed = { ...call, status: "completed", args, result };
    yield twins("tool_call", completed, "tool-call-completed", update(result)) + tokens();
  }
  yield frame("status", { runId: "run-00000000-0000-0000-0000-000000000001", status: "RUNNING" });
  while (true) {
    yield frame("interaction_update", { type: "step-started", stepId: random(1000) }, next());
    for (let piece = 0; piece < 6; piece++) {
      const data = { text: text(24) };
      yield twins("thinking", data, "thinking-delta", data) + tokens();
    }
    for (let tool = 0; tool < 3; tool++) yield* toolCall();
    for (let piece = 0; piece < 8; piece++) {
      const data = { text: text(16) };
      yield twins("assistant", data, "text-delta", data) + tokens();
    }
    yield frame("interaction_update", { type: "step-completed", stepDurationMs: random(9000) }, next());
    if (random(4) === 0) yield frame("heartbeat", {});
  }
}

/** The two events with which a stream ends. */
export const ending = ({ rename = (event) => event }: RecordingOptions = {}): string => {
  const result = { runId: "run-00000000-0000-0000-0000-000000000001", status: "FINISHED", text: "done" };
  return `id: 9-9\nevent: ${rename("result")}\ndata: ${JSON.stringify(result)}\n\nid: 9-9\nevent: ${rename("done")}\ndata: {}\n\n`;
};

/** A whole stream of about so many bytes. */
export function recording(size: number, options: RecordingOptions = {}): Uint8Array {
  const encoder = new TextEncoder();
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (const frame of frames(options)) {
    const piece = encoder.encode(frame);
    pieces.push(piece);
    length += piece.length;
    if (length >= size) break;
  }
  pieces.push(encoder.encode(ending(options)));
  return Buffer.concat(pieces);
}

/** A stream with one event of about so many bytes: a tool call that read a large file. */
export function largeEvent(size: number, options: RecordingOptions = {}): Uint8Array {
  const { rename = (event: string) => event } = options;
  const data = {
    callId: "tool_1",
    name: "read_file",
    status: "completed",
    result: { success: { content: "0123456789abcdef ".repeat(Math.ceil(size / 17)) } },
  };
  const frame = `id: 1-0\nevent: ${rename("tool_call")}\ndata: ${JSON.stringify(data)}\n\n`;
  return new TextEncoder().encode(frame + ending(options));
}

/** As a network would bring it. */
export function chunksOf(bytes: Uint8Array, size: number): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  // Copies: a view would keep the caches of its neighbours warm.
  for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.slice(at, at + size));
  return chunks;
}
