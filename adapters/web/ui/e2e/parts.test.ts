/** Parts of the page that come as files of their own, on a network that fails. */
import type { Route } from "playwright-core";
import { expect, it } from "vitest";
import { settingsPath, topicPath } from "../src/router/paths";
import { askComposerText, settingsText, shellText } from "../src/strings";
import type { Tab } from "./support/browser";
import { messageField } from "./support/composer";
import { loadedAhead } from "./support/measure";
import { Scene } from "./support/scene";

const scene = Scene.ofFile();

const abort = (route: Route) => route.abort("connectionfailed");
const missing = (route: Route) => route.fulfill({ status: 404, body: "there is nothing here" });

/** Files of parts whose names begin so do not come until the result is called. */
const without = async (tab: Tab, name: string, how: (route: Route) => Promise<void> = abort) => {
  const files = new RegExp(`/assets/${name}-`);
  await tab.page.route(files, how);
  return () => tab.page.unroute(files, how);
};
const missed = (tab: Tab) => tab.page.locator(".part-notice");
const goTo = (tab: Tab, path: string) => tab.page.locator(`a[href="${path}"]`).first().click();

it.each([["the network is down", abort], ["they are missing", missing]] as const)("a view whose files do not come because %s is told of, the page goes on, and trying again brings it", async (_, how) => {
  const tab = await scene.tab();
  const back = await without(tab, "Settings", how);
  await tab.page.goto("/");
  await goTo(tab, settingsPath("profile"));
  await missed(tab).getByText(shellText.partMissing).waitFor();
  await missed(tab).getByRole("button", { name: shellText.again }).click();
  await goTo(tab, "/");
  await missed(tab).waitFor({ state: "detached" });
  await goTo(tab, settingsPath("profile"));
  await missed(tab).waitFor();
  await back();
  await missed(tab).getByRole("button", { name: shellText.again }).click();
  await tab.page.getByRole("main").getByRole("button", { name: settingsText.signOut }).waitFor();
  // It is dressed as well.
  const rules = await tab.page.evaluate(() => [...document.styleSheets].filter((sheet) => sheet.href?.includes("/Settings-")).map((sheet) => sheet.cssRules.length));
  expect(rules).not.toEqual([]);
  expect(rules).not.toContain(0);
}, 60_000);

it.each([
  ["that begins the page", /\/assets/],
  ["of any kind", /\.js$/],
])("where no script %s comes, that is said, and reloading brings the page", async (_, files) => {
  const tab = await scene.tab();
  await tab.page.route(files, (route) => (route.request().resourceType() === "script" ? route.abort("connectionfailed") : route.continue()));
  await tab.page.goto("/");
  await tab.page.getByRole("heading", { name: "Compass has not loaded" }).waitFor();
  await tab.page.unroute(files);
  await tab.page.getByRole("link", { name: "Reload" }).click();
  await tab.page.getByRole("main").waitFor();
  expect(await tab.page.locator("#late").count()).toBe(0);
}, 60_000);

it("a question that cannot be composed leaves the topic and the message that was begun", async () => {
  const { topicId } = await scene.admin.post(scene.agent.homeChannelId, "Parts", "Something to read.");
  const tab = await scene.tab();
  const back = await without(tab, "AskComposer");
  await tab.page.goto(topicPath(scene.agent.homeChannelId, topicId));
  await messageField(tab.page).fill("Half a sentence");
  await tab.page.getByRole("button", { name: askComposerText.open }).click();
  await missed(tab).waitFor();
  expect(await tab.page.getByText("Something to read.").isVisible()).toBe(true);
  expect(await messageField(tab.page).inputValue()).toBe("Half a sentence");
  await back();
  await missed(tab).getByRole("button", { name: shellText.again }).click();
  await tab.page.getByText(askComposerText.cannotWithdraw).waitFor();
}, 60_000);

it("the way back in is there though the network went before the session did, and one that is missing can be tried again", async () => {
  const ahead = await scene.tab();
  await ahead.page.goto("/");
  // The way back in is among it.
  await loadedAhead(ahead.page);
  await without(ahead, ".*");
  const signOut = (tab: Tab) => tab.context.request.delete("/session", { headers: { "x-compass-page": "1", origin: scene.server.url } });
  await signOut(ahead);
  await ahead.page.getByRole("dialog", { name: shellText.signedOut }).waitFor({ timeout: 45_000 });

  const late = await scene.tab();
  const back = await without(late, "SignedOutDialog");
  await late.page.goto("/");
  // The page has read what there is.
  await late.page.locator(`a[href^="/channel/${scene.agent.homeChannelId}"]`).first().waitFor();
  await signOut(late);
  await missed(late).getByText(shellText.signedOut).waitFor({ timeout: 45_000 });
  // Whoever is not signed in reads nothing of the page meanwhile.
  expect(await late.page.locator(".shell").evaluate((shell) => [shell.hasAttribute("inert"), getComputedStyle(shell).opacity])).toEqual([true, "0"]);
  await back();
  await missed(late).getByRole("button", { name: shellText.again }).click();
  await late.page.getByRole("dialog", { name: shellText.signedOut }).waitFor();
}, 150_000);
