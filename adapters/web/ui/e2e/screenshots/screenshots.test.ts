/** Pictures of every view in both themes and at 320 px, into the directory that COMPASS_SCREENSHOTS names. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { NONE, Tab, launch } from "../support/browser";
import { Server } from "../support/server";
import { type Team, team } from "../support/team";
import { open, views } from "../support/views";

const directory = process.env["COMPASS_SCREENSHOTS"] ?? "";

let server: Server;
let browser: Awaited<ReturnType<typeof launch>>;
let world: Team;
beforeAll(async () => {
  if (directory === "") throw new Error("COMPASS_SCREENSHOTS has to name a directory");
  await mkdir(directory, { recursive: true });
  [server, browser] = await Promise.all([Server.start(), launch()]);
  world = await team(server);
}, 120_000);
afterAll(async () => {
  await browser.close();
  await server.stop();
});

const LOOKS = [
  { name: "light", options: { colorScheme: "light", viewport: { width: 1280, height: 800 } } },
  { name: "dark", options: { colorScheme: "dark", viewport: { width: 1280, height: 800 } } },
  { name: "narrow", options: { colorScheme: "light", viewport: { width: 320, height: 640 }, hasTouch: true } },
] as const;

it.each(LOOKS)("every view, $name", async ({ name, options }) => {
  const guest = await Tab.open(browser, server, options);
  await guest.page.goto("/");
  await guest.page.locator("main").waitFor();
  await guest.page.screenshot({ path: join(directory, `sign-in-${name}.png`) });
  await guest.close();
  const tab = await Tab.open(browser, server, options);
  await tab.signIn(await world.admin.secretFor(world.admin.accountId));
  for (const view of views(world)) {
    await open(tab.page, view);
    await tab.page.screenshot({ path: join(directory, `${view.name}-${name}.png`) });
  }
  expect(tab.trouble).toEqual(NONE);
  await tab.close();
}, 300_000);
