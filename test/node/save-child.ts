// A process of its own, to be killed in the middle: saves one artifact, or all, and says when it is done.
import { Cursor } from "cursor-cloud-agents";
import { saveArtifact, saveArtifacts } from "cursor-cloud-agents/node";

const [agentId = "", path = "", to = ""] = process.argv.slice(2);
const cursor = new Cursor({ apiKey: "test" });
if (path === "all") await saveArtifacts(cursor, agentId, to);
else await saveArtifact(cursor, agentId, path, { to });
console.log("saved");
