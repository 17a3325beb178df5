import type { RunEvent, RunStreamInclude } from "cursor-cloud-agents";
import type { CursorEmulator, ManualClock } from "cursor-cloud-agents/emulator";

/** An event that has its own place in a run: `name id payload`. */
export type Told = string;

/** What a run says, read off the emulator without faults and by a parser of its own. */
export interface Wanted {
  events: Told[];
  /** The reply's pieces, in the family that the mode reads them from. */
  text: string;
  /** The last status that the stream tells by itself. */
  lastStatus: string | undefined;
}

const simplified = ["assistant", "thinking", "tool_call"];

export async function readWanted(
  emulator: CursorEmulator,
  { agentId, id }: { agentId: string; id: string },
  include: RunStreamInclude,
  clock: ManualClock,
): Promise<Wanted> {
  const url = `${emulator.baseUrl}/v1/agents/${agentId}/runs/${id}/stream`;
  // Interruptions that the script holds for the first who comes are left to the readers before this one.
  for (let tries = 0; tries < 40; tries++) {
    const response = await emulator.fetch(url, { headers: { authorization: "Bearer reference" } });
    const frames = await response.text().then(parse, () => []);
    if (frames.at(-1)?.name === "done" && frames.at(-2)?.name === "result") return toWanted(frames, include);
    await clock.advance(3_000); // past the time in which a young run's stream is refused
  }
  throw new Error("the emulator never told the whole run");
}

interface Frame {
  name: string;
  id: string | undefined;
  data: string;
}

function parse(body: string): Frame[] {
  return body.split("\n\n").flatMap((block) => {
    const field = (name: string) =>
      block
        .split("\n")
        .find((line) => line.startsWith(`${name}: `))
        ?.slice(name.length + 2);
    const data = field("data");
    return data === undefined ? [] : [{ name: field("event") ?? "message", id: field("id"), data }];
  });
}

function toWanted(frames: Frame[], include: RunStreamInclude): Wanted {
  const wanted = frames.filter(({ name }) => {
    if (include === "simplified") return name !== "interaction_update";
    return include === "all" || !simplified.includes(name);
  });
  const text = wanted.map(({ name, data }) => {
    const payload = JSON.parse(data) as { type?: string; text?: string };
    if (name === "assistant") return payload.text ?? "";
    return include === "interaction" && payload.type === "text-delta" ? (payload.text ?? "") : "";
  });
  const statuses = frames.filter(({ name }) => name === "status");
  return {
    events: wanted.flatMap(({ name, id, data }) =>
      id === undefined ? [] : [`${name} ${id} ${JSON.stringify(JSON.parse(data))}`],
    ),
    text: text.join(""),
    lastStatus: (JSON.parse(statuses.at(-1)?.data ?? "{}") as { status?: string }).status,
  };
}

/** The same of an event that a reader got. */
export function told(event: RunEvent): Told {
  const payload = event.type === "invalid" ? JSON.parse(event.raw) : event.data;
  return `${"name" in event ? event.name : event.type} ${event.id} ${JSON.stringify(payload)}`;
}
