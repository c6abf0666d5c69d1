/** Every view, in both themes: no violation of the accessibility rules, and no scrolling sideways on a narrow screen. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NONE, Tab, launch } from "./support/browser";
import { sideways } from "./support/measure";
import { Server } from "./support/server";
import { type Team, team } from "./support/team";
import { open, views } from "./support/views";

const axePath = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

let server: Server;
let browser: Awaited<ReturnType<typeof launch>>;
let world: Team;
let axe: string;
beforeAll(async () => {
  [server, browser, axe] = await Promise.all([Server.start(), launch(), readFile(axePath, "utf8")]);
  world = await team(server);
}, 120_000);
afterAll(async () => {
  await browser.close();
  await server.stop();
});

async function signedIn(options: Parameters<typeof Tab.open>[2]): Promise<Tab> {
  const tab = await Tab.open(browser, server, options);
  await tab.signIn(await world.admin.secretFor(world.admin.accountId));
  return tab;
}

/** One line for each element that breaks a rule. */
async function broken(tab: Tab): Promise<string[]> {
  await tab.page.evaluate(axe);
  const results: unknown = await tab.page.evaluate("axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.html.slice(0, 160)} ${n.failureSummary ?? ''}`)))");
  if (!Array.isArray(results)) throw new Error("axe gave no list");
  return results.map(String);
}

describe.each(["light", "dark"] as const)("%s", (colorScheme) => {
  it("no view breaks a rule of axe", async () => {
    const tab = await signedIn({ colorScheme });
    for (const view of views(world)) {
      await open(tab.page, view);
      expect.soft(await broken(tab), `${view.name} ${colorScheme}`).toEqual([]);
    }
    expect(tab.trouble).toEqual(NONE);
    await tab.close();
  }, 300_000);

  it("no view scrolls sideways at 320 px", async () => {
    const tab = await signedIn({ colorScheme, viewport: { width: 320, height: 640 } });
    for (const view of views(world)) {
      await open(tab.page, view);
      expect.soft(await sideways(tab.page), `${view.name} is wider than the screen`).toEqual([]);
    }
    expect(tab.trouble).toEqual(NONE);
    await tab.close();
  }, 300_000);
});

it("the sign-in view breaks no rule either, and fits", async () => {
  const tab = await Tab.open(browser, server, { viewport: { width: 320, height: 640 } });
  await tab.page.goto("/");
  await tab.page.locator("main").waitFor();
  expect(await broken(tab)).toEqual([]);
  expect(await sideways(tab.page)).toEqual([]);
  await tab.close();
});

it("axe and the measure of width see what is wrong when something is", async () => {
  const tab = await signedIn({ viewport: { width: 320, height: 640 } });
  await tab.page.goto("/");
  await tab.page.locator("main").waitFor();
  await tab.page.evaluate(() => {
    const wide = document.createElement("button");
    wide.className = "planted";
    document.querySelector("main")?.append(wide);
    for (const [name, value] of [["position", "absolute"], ["left", "400px"], ["width", "40px"], ["height", "40px"]] as const) wide.style.setProperty(name, value);
  });
  expect((await broken(tab)).join()).toContain("button-name");
  expect((await sideways(tab.page)).join()).toContain("MAIN");
  await tab.close();
});
