import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Tests that drive the built program with a real browser. One file after the other: each has a server and a browser of its own. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL(".", import.meta.url)),
    environment: "node",
    include: ["*.test.ts"],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 10_000,
  },
});
