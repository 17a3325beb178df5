import { Cursor } from "cursor-cloud-agents";
import { ManualClock } from "cursor-cloud-agents/emulator";
import { checkedEmulator } from "../support/checked-emulator.ts";

export const site = "https://app.example";
export const authorize = () => true;

export function stage() {
  const clock = new ManualClock();
  const emulator = checkedEmulator({ clock });
  emulator.script("hold", (run) => run.text("Working").hold("gate").finish());
  emulator.script("quick", (run) => run.text("Done").finish());
  const cursor = new Cursor({ apiKey: "test", fetch: emulator.fetch, clock, random: () => 0.5 });
  const start = (text: string) => emulator.addAgent({ prompt: { text } });
  return { clock, emulator, cursor, start };
}

type Init = RequestInit & { duplex?: "half" };
export const post = (body: unknown, headers: Record<string, string> = {}, more: Init = {}) =>
  new Request(`${site}/x`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" || body instanceof ReadableStream ? body : JSON.stringify(body),
    ...more,
  } as RequestInit);
export const get = (init: RequestInit = {}) => new Request(`${site}/x`, init);

export const codeOf = async (response: Response) => [
  response.status,
  JSON.parse(await response.text()).error?.code,
];
