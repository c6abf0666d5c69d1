/// <reference types="vitest/config" />
import solid from "@solidjs/vite-plugin";
import { defineConfig } from "vite";
import { binaryOnly } from "./scripts/binary-only";
import { twins } from "./scripts/twins";

export default defineConfig({
  plugins: [solid(), binaryOnly(), twins()],
  build: {
    outDir: "../assets",
    emptyOutDir: true,
    sourcemap: false,
    // Everything is a file of its own: the page's security policy allows nothing inline.
    assetsInlineLimit: 0,
    // Of a part only the styles are asked for ahead: a browser never asks again for a script whose file did not
    // come once, and a part that is tried again brings its own scripts.
    modulePreload: {
      polyfill: false,
      resolveDependencies: (file, needed, { hostType }) =>
        hostType === "html" || /\/start-[^/]+$/.test(file) ? needed : needed.filter((each) => each.endsWith(".css")),
    },
  },
  server: {
    // For `npm run dev` beside a running server.
    proxy: { "^/(compass\\.v1\\.|session)": { target: "http://localhost:7420", changeOrigin: false } },
  },
  test: {
    environment: "jsdom",
    include: ["{src,scripts}/**/*.test.{ts,tsx}"],
    setupFiles: ["src/testing/setup.ts"],
    // Making a document and loading the modules anew for each file takes longer than the tests themselves: files share both.
    isolate: false,
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
