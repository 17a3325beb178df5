import { it } from "vitest";
import { fuzz } from "./fuzz.ts";
import { sized } from "./support.ts";

it(
  "a stream or a wait with random faults ends in its outcome, or in an error of ours",
  { timeout: 3_600_000 },
  () => fuzz("streams", sized(2_000, 300_000)),
);
