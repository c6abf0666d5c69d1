import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Tests that drive the built program with a real browser. Two files at a time: each has a server and a browser of its own. */
export default defineConfig({
  test: {
    root: fileURLToPath(new URL(".", import.meta.url)),
    environment: "node",
    include: ["*.test.ts"],
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 10_000,
  },
});
