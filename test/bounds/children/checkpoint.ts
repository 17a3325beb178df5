// Reads a run's stream, from a checkpoint where one is given, and says each event with the checkpoint after it. Asked by
// any line of input, it says where it stands in the middle of a read.
import { Cursor, type RunCheckpoint, type RunRef, type RunStreamInclude } from "cursor-cloud-agents";
import { say } from "./measure.ts";

const [baseUrl, ref, include, from] = process.argv.slice(2).map((text) => JSON.parse(text)) as [
  string,
  RunRef,
  RunStreamInclude,
  RunCheckpoint | null,
];
const cursor = new Cursor({ apiKey: "key_TEST", baseUrl, random: () => 0 });
const stream = cursor.runs.stream(ref, { include, from: from ?? undefined });
process.stdin.on("data", () => say({ checkpoint: stream.checkpoint() }));
for await (const event of stream) say({ event, checkpoint: stream.checkpoint() });
process.stdin.destroy();
