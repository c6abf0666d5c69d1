/** Shows a fresh build of the page in place of the one in the program, under the program's own headers. */
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import type { BrowserContext } from "playwright-core";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/** For work on the page: COMPASS_PAGE names the folder of a build, which spares building the program. */
export async function overlay(context: BrowserContext, origin: string): Promise<void> {
  const folder = process.env["COMPASS_PAGE"] ?? "";
  if (folder === "") return;
  const headers = (await context.request.get(`${origin}/`)).headers();
  const kept = Object.entries(headers).filter(([name]) => /policy|^x-/.test(name));
  await context.route(
    (url) => url.origin === origin && (/^\/assets\//.test(url.pathname) || !/^\/(session|compass\.v1\.)/.test(url.pathname)),
    async (route) => {
      const { pathname } = new URL(route.request().url());
      const name = pathname.includes(".") ? pathname.slice(1) : "index.html";
      try {
        const body = await readFile(join(folder, name));
        await route.fulfill({ body, headers: { ...Object.fromEntries(kept), "content-type": TYPES[extname(name)] ?? "application/octet-stream" } });
      } catch {
        await route.fulfill({ status: 404, body: "there is nothing here" });
      }
    },
  );
}
