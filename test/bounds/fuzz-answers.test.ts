import { it } from "vitest";
import { fuzz } from "./fuzz.ts";
import { sized } from "./support.ts";

it("a call with random faults ends in its value, or in an error of ours", { timeout: 3_600_000 }, () =>
  fuzz("answers", sized(5_000, 700_000)),
);
