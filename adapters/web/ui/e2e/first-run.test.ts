/** A person who has just started a server gets to the first answered ask, by what the page says alone. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { askText, firstRunText, inboxText, signInText } from "../src/strings";
import { NONE, Tab, launch } from "./support/browser";
import { Server } from "./support/server";

const run = promisify(execFile);
const text = firstRunText;

let server: Server;
let browser: Browser;
let programs: string;
beforeAll(async () => {
  [server, browser, programs] = await Promise.all([Server.start(), launch(), mkdtemp(join(tmpdir(), "page-bin-"))]);
  await symlink(process.env["COMPASS_BIN"] ?? "", join(programs, "compass"));
});
afterAll(async () => {
  await browser.close();
  await server.stop();
  await rm(programs, { recursive: true });
});

it("a sign-in link is used by the press of its button and not before, leaves the address, and leads to the first answered ask", async () => {
  const secret = await server.firstSecret();
  // Programs that look at links open them too: nothing of that may use it up.
  for (let look = 0; look < 2; look++) {
    const stranger = await Tab.open(browser, server);
    await stranger.page.goto(`/sign-in#${secret}`);
    await stranger.page.getByText(signInText.linkReady).waitFor();
    await expect.poll(() => stranger.page.url()).not.toContain(secret);
    expect(stranger.requests.filter((request) => request.method() !== "GET" && request.url().endsWith("/session"))).toEqual([]);
    expect(stranger.requests.map((request) => request.url()).join()).not.toContain(secret);
    await stranger.close();
  }

  const tab = await Tab.open(browser, server);
  await tab.page.goto(`/sign-in#${secret}`);
  await tab.page.getByRole("button", { name: signInText.signIn, exact: true }).first().click();
  await tab.page.getByRole("heading", { name: text.title }).waitFor();
  expect(await tab.page.evaluate(() => document.cookie)).toBe("");

  // Used once is used up.
  const late = await Tab.open(browser, server);
  await late.page.goto(`/sign-in#${secret}`);
  await late.page.getByRole("button", { name: signInText.signIn, exact: true }).first().click();
  await expect.poll(() => late.alerts()).not.toBe("");
  await late.close();

  // From here to the first answer, with nothing but what the page shows.
  const { page } = tab;
  await page.getByRole("textbox", { name: text.handle }).fill("deploy-bot");
  await page.getByRole("button", { name: text.create }).click();
  const shown = page.locator("code", { hasText: "compass ask" });
  await shown.waitFor();
  const command = (await shown.textContent()) ?? "";
  const asked = run("sh", ["-c", command], {
    env: { PATH: [programs, process.env["PATH"]].join(delimiter), HOME: programs },
    timeout: 60_000,
  });
  // It appears by itself. A command that fails says why.
  const ask = page.locator("[data-ask]");
  await Promise.race([ask.waitFor(), asked.then(({ stdout, stderr }) => Promise.reject(new Error(`the command ended: ${stdout}${stderr}`)))]);
  await expect.poll(() => page.title()).toContain("1 ask");
  await ask.getByRole("button", { name: text.yes, exact: true }).click();
  await ask.getByRole("button", { name: askText.submit, exact: true }).click();
  const { stdout } = await asked;
  expect(stdout).toContain(text.yes);
  await page.getByText(inboxText.empty).first().waitFor();
  await expect.poll(() => page.title()).not.toContain("1 ask");
  expect(tab.trouble).toEqual(NONE);
  await tab.close();
}, 120_000);
