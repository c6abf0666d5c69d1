/// <reference types="vitest/config" />
import solid from "@solidjs/vite-plugin";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [solid()],
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
    proxy: { "^/(compass\\.v1\\.|session)": "http://localhost:7377" },
  },
  test: { environment: "jsdom", include: ["src/**/*.test.{ts,tsx}"], setupFiles: ["src/testing/setup.ts"], testTimeout: 20_000 },
});
