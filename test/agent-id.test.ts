import { agentIdFrom, isArgumentError } from "cursor-cloud-agents";
import { expect, it } from "vitest";

it("gives the same id for the same key, and another for another", async () => {
  const id = await agentIdFrom("nightly-docs/2026-04-13");
  expect(await agentIdFrom("nightly-docs/2026-04-13")).toBe(id);
  expect(await agentIdFrom("nightly-docs/2026-04-14")).not.toBe(id);
  expect(id).toMatch(/^bc-[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

it("is the version 5 UUID that any other implementation makes of the namespace and the UTF-8 key", async () => {
  // Python: uuid.uuid5(uuid.UUID("b9d2f3a4-6c1e-4f57-9a83-2f0c7e5d1b46"), "nightly/é/1")
  expect(await agentIdFrom("nightly/é/1")).toBe("bc-e00d8ae6-03d2-5fb9-8cd2-ee834b9e987c");
});

it.each([undefined, null, "", 7, {}])("rejects %j as a key", async (key) => {
  await expect(agentIdFrom(key as string)).rejects.toSatisfy(isArgumentError);
});
