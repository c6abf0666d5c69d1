/// <reference types="vitest/config" />
import solid from "@solidjs/vite-plugin";
import { defineConfig } from "vite";
import { twins } from "./scripts/twins";

export default defineConfig({
  plugins: [solid(), twins()],
  build: {
    outDir: "../assets",
    emptyOutDir: true,
    sourcemap: false,
    // Everything is a file of its own: the page's security policy allows nothing inline.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    // For `npm run dev` beside a running server.
    proxy: { "^/(compass\\.v1\\.|session)": { target: "http://localhost:7420", changeOrigin: false } },
  },
  test: {
    environment: "jsdom",
    include: ["{src,scripts}/**/*.test.{ts,tsx}"],
    setupFiles: ["src/testing/setup.ts"],
    testTimeout: 20_000,
  },
});
