import { Cursor, isApiError, isCursorError } from "cursor-cloud-agents";

/** What the emulator plays for this: a text with a cut in it, and a file. */
export const prompt = "Say it in one piece";
export const text = "What is cut in two arrives in one piece.";

/**
 * The package at work with nothing but the web's own: no built-ins, no globals of one runtime. The same code for all of
 * them. Throws at the first thing that isn't right; gives back what it has seen.
 *
 * @param {string} baseUrl
 */
export async function smoke(baseUrl) {
  const cursor = new Cursor({ apiKey: "key_smoke", baseUrl });

  const { agent, run } = await cursor.agents.create({ prompt });
  const listed = [];
  for await (const { id } of cursor.agents.list({ limit: 1 })) listed.push(id);
  expectSame(listed.includes(agent.id), true, "the list has the new agent");

  let reconnects = 0;
  const stream = cursor.runs.stream(run, { onReconnect: () => reconnects++ });
  let streamed = "";
  for await (const event of stream) if (event.type === "assistant") streamed += event.data.text;
  expectSame(streamed, text, "the text comes once and whole");
  expectSame(reconnects > 0, true, "the stream was cut");
  expectSame((await stream.result()).status, "FINISHED", "the outcome");

  const [artifact] = (await cursor.artifacts.list(agent.id)).items;
  const download = await cursor.artifacts.download(agent.id, artifact.path);
  expectSame(await download.text(), text, "the file is whole");

  const refusal = await cursor.agents.get("bc-00000000-0000-4000-8000-00000000dead").then(
    () => undefined,
    (error) => error,
  );
  expectSame(isCursorError(refusal) && isApiError(refusal, "agent_not_found"), true, "the error's code");
  expectSame(refusal.status, 404, "the error's status");

  const controller = new AbortController();
  const left = cursor.agents.list({}, { signal: controller.signal }).then(
    () => "answered",
    (reason) => reason,
  );
  controller.abort("left");
  expectSame(await left, "left", "an abort rejects with its reason");
  return { agents: listed.length, reconnects };
}

function expectSame(actual, expected, what) {
  if (actual !== expected)
    throw new Error(`${what}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`);
}
