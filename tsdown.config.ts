import { defineConfig } from "tsdown";

export default defineConfig({
  entry: { index: "src/index.ts", "emulator/index": "src/emulator/index.ts" },
  format: "esm",
  platform: "neutral",
  target: "es2022",
  dts: true,
  sourcemap: true,
  clean: true,
});
