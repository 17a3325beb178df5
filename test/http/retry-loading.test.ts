import { Cursor, isApiError } from "cursor-cloud-agents";
import { expect, it, vi } from "vitest";

// What happens to a page without a network: the file that is needed for another attempt can't be fetched either.
let whileLoading = () => {};
vi.mock("p-retry", () => {
  whileLoading();
  throw new TypeError("Failed to fetch dynamically imported module");
});

let sent = 0;
const cursor = new Cursor({
  apiKey: "key_0123456789abcdef",
  fetch: async () => {
    sent++;
    return Response.json({ error: { code: "internal", message: "try later" } }, { status: 500 });
  },
});

it("a call that is aborted while p-retry is being loaded rejects with the reason of the abort", async () => {
  const controller = new AbortController();
  const reason = new Error("enough");
  whileLoading = () => controller.abort(reason);
  await expect(cursor.me({ signal: controller.signal })).rejects.toBe(reason);
  whileLoading = () => {};
});

it("a call that can't load p-retry rejects with the failure of its first attempt", async () => {
  sent = 0;
  const error = await cursor.me().catch((reason: unknown) => reason);
  expect(isApiError(error, "internal") && error.message).toBe("GET /v1/me -> 500 internal: try later");
  expect(sent).toBe(1);
});
