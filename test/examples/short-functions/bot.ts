import {
  type Clock,
  type Cursor,
  emptyTranscript,
  type RunCheckpoint,
  type RunRef,
  type RunStatus,
  reduceTranscript,
  type Transcript,
} from "cursor-cloud-agents";

/** All that one invocation leaves to the next, as JSON: a row in a database, the body of a queue's message. */
export interface BotState {
  run: RunRef;
  /** Where the stream stands. */
  checkpoint?: RunCheckpoint;
  /** What was read up to there. One value with the checkpoint: either both are stored, or neither is. */
  transcript: Transcript;
  /** The outcome: there is nothing more to do. */
  status?: RunStatus;
}

export interface InvocationOptions {
  cursor: Cursor;
  /** Milliseconds to read for; leave some of the platform's limit for the rest. */
  budget: number;
  /** For tests. @default the system's */
  clock?: Pick<Clock, "setTimeout" | "clearTimeout">;
}

/** Starts a run and gives the first state. */
export async function begin(cursor: Cursor, prompt: string): Promise<BotState> {
  const { run } = await cursor.agents.create({ prompt });
  return { run: { agentId: run.agentId, id: run.id }, transcript: emptyTranscript };
}

/**
 * One invocation: reads on from a state, for as long as it may, and returns the next one. The given state stays as it is,
 * so an invocation that dies costs nothing: the next one gets the same state and reads the same events again.
 *
 * Show the whole `transcript.text` afterwards (edit the message, don't append to it); then it doesn't matter if a state
 * was stored, and its showing was not.
 */
export async function invoke(state: BotState, options: InvocationOptions): Promise<BotState> {
  const { cursor, budget, clock = globalThis } = options;
  if (state.status !== undefined) return state;
  const stream = cursor.runs.stream(state.run, { from: state.checkpoint });
  const timer = clock.setTimeout(() => stream.close(), budget);
  let { checkpoint, transcript } = state;
  try {
    for await (const event of stream) {
      transcript = reduceTranscript(transcript, event);
      checkpoint = stream.checkpoint();
      if (event.type === "result") return { ...state, checkpoint, transcript, status: event.data.status };
    }
  } finally {
    clock.clearTimeout(timer);
  }
  return { ...state, ...(checkpoint === undefined ? {} : { checkpoint }), transcript };
}
