import { Cursor, isApiError } from "cursor-cloud-agents";
import { expect, it, vi } from "vitest";

// What a page meets whose network is gone: the file that is needed for another try can't be fetched either.
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

it("a caller's abort while the way to another try is being loaded is what the call rejects with", async () => {
  const controller = new AbortController();
  const reason = new Error("enough");
  whileLoading = () => controller.abort(reason);
  await expect(cursor.me({ signal: controller.signal })).rejects.toBe(reason);
  whileLoading = () => {};
});

it("a call that can't load what repeats it rejects with what failed", async () => {
  sent = 0;
  const error = await cursor.me().catch((reason: unknown) => reason);
  expect(isApiError(error, "internal") && error.message).toBe("GET /v1/me -> 500 internal: try later");
  expect(sent).toBe(1);
});
