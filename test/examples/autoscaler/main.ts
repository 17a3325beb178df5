/**
 * Says once what an autoscaler would do: `CURSOR_API_KEY=… tsx main.ts [MIN MAX SPARE]`, with the key of a service
 * account.
 */
import { Cursor } from "cursor-cloud-agents";
import { decide, explain, readLoad } from "./autoscaler.ts";

const [min = 0, max = 10, spare = 1] = process.argv.slice(2).map(Number);
const load = await readLoad(new Cursor());
process.stdout.write(`${explain(load, decide(load, { min, max, spare }))}\n`);
