import { CursorError } from "cursor-cloud-agents";
import { saveArtifacts } from "cursor-cloud-agents/node";
import { expect, it } from "vitest";
import { fake, reply } from "../support/fake-api.ts";
import { agentId } from "../support/sample-run.ts";
import { temporaryFolder } from "./helpers.ts";

it.each([null, 5, {}, { path: 5 }, { path: null }])("a list with the item %j is rejected", async (item) => {
  const { cursor, fails } = fake(reply(200, { items: [item] }));
  const error = await fails(saveArtifacts(cursor, agentId, temporaryFolder()));
  expect(error).toBeInstanceOf(CursorError);
  expect(error.agentId).toBe(agentId);
});
