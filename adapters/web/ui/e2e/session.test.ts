/** Signing in and out, and what happens to a page whose session ends under it. */
import { expect, it } from "vitest";
import { settingsPath, topicPath } from "../src/router/paths";
import { settingsText, shellText, signInText } from "../src/strings";
import { messageField } from "./support/composer";
import { Scene } from "./support/scene";

/** How long an open stream may outlive its token. */
const RECHECK_MS = 35_000;

const scene = Scene.ofFile();

it("who is not signed in sees how to, whatever the address, and gets there with a token", async () => {
  const tab = await scene.guest();
  const { topicId } = await scene.admin.post(scene.agent.homeChannelId, "A topic", "Something to read.");
  await tab.page.goto(topicPath(scene.agent.homeChannelId, topicId));
  await tab.page.getByRole("heading", { name: signInText.title }).waitFor();
  expect(await tab.page.locator("body").textContent()).not.toContain("Something to read.");
  await tab.page.getByRole("radio", { name: signInText.token }).check();
  await tab.page.getByLabel(signInText.field).fill(scene.admin.token);
  await tab.page.getByRole("button", { name: signInText.signIn, exact: true }).click();
  await tab.page.getByText("Something to read.").waitFor();
  // The token was traded: what the browser keeps is another one, and no script sees it.
  expect(await tab.page.evaluate(() => JSON.stringify([document.cookie, Object.entries(localStorage), Object.entries(sessionStorage)]))).not.toContain(scene.admin.token);
});

it("an agent's token opens no page", async () => {
  const tab = await scene.guest();
  await tab.page.goto("/");
  await tab.page.getByRole("radio", { name: signInText.token }).check();
  await tab.page.getByLabel(signInText.field).fill(scene.agent.token);
  await tab.page.getByRole("button", { name: signInText.signIn, exact: true }).click();
  await expect.poll(() => tab.alerts()).not.toBe("");
  expect(await tab.page.getByRole("heading", { name: signInText.title }).isVisible()).toBe(true);
});

it("signing out ends this session in every tab and leaves the token of the command line", async () => {
  const tab = await scene.tab();
  const other = await tab.another();
  await Promise.all([tab, other].map(({ page }) => page.goto("/")));
  await other.page.getByRole("main").waitFor();
  await tab.page.goto(settingsPath("profile"));
  await tab.page.getByRole("main").getByRole("button", { name: settingsText.signOut }).click();
  await tab.page.getByRole("heading", { name: signInText.title }).or(tab.page.getByText(shellText.signedOut)).first().waitFor();
  await other.page.getByText(shellText.signedOut).first().waitFor({ timeout: RECHECK_MS });
  await tab.page.goto("/");
  await tab.page.getByRole("heading", { name: signInText.title }).waitFor();
  expect((await scene.admin.compass.whoAmI({})).accountId).toBe(scene.admin.accountId);
}, 90_000);

it("a session that is revoked says so within half a minute, and what was picked and written is still there afterwards", async () => {
  const ben = await scene.admin.addPerson("ben");
  const channel = await scene.admin.addChannel("shared", ["ben", "bot"]);
  const { tab, ask } = await scene.atAsk("Still picked?", { channelId: channel.id, person: ben });
  await ask.option("No").click();
  await messageField(tab.page).fill("Half a sentence");
  const mine = await ben.sessions.listTokens({ accountId: ben.accountId });
  // The session is the newest of the tokens.
  const newest = mine.tokens.reduce((found, token) => (token.createdAtUnixMs > found.createdAtUnixMs ? token : found));
  const started = Date.now();
  await scene.server.cli(["token", "revoke", newest.id], scene.admin.token);
  await tab.page.getByText(shellText.signedOut).first().waitFor({ timeout: RECHECK_MS });
  console.log(`said so after ${((Date.now() - started) / 1000).toFixed(1)} s`);
  // Sign in again, in the same tab.
  const secret = await scene.admin.secretFor(ben.accountId);
  await tab.page.getByLabel(signInText.field).fill(secret);
  await tab.page.getByRole("button", { name: signInText.signIn, exact: true }).click();
  await tab.page.getByText(shellText.signedOut).first().waitFor({ state: "hidden" });
  expect(await ask.option("No").getAttribute("aria-pressed")).toBe("true");
  expect(await messageField(tab.page).inputValue()).toBe("Half a sentence");
  await ask.submit.click();
  await ask.answeredBy.waitFor();
}, 120_000);

it("the page is of this origin alone: no other site can frame it or use its session", async () => {
  const tab = await scene.tab();
  const headers = (await tab.context.request.get("/")).headers();
  expect(headers["content-security-policy"]).toContain("frame-ancestors 'none'");
  const body = { headers: { "content-type": "application/grpc-web+proto" }, data: Buffer.from([0, 0, 0, 0, 0]) };
  const call = (extra: Record<string, string>) => tab.context.request.post("/compass.v1.CompassService/WhoAmI", { ...body, headers: { ...body.headers, ...extra } });
  const ok = await call({ "x-compass-page": "1", origin: scene.server.url });
  expect([ok.status(), ok.headers()["grpc-status"] ?? "0"]).toEqual([200, "0"]);
  for (const extra of [{}, { "x-compass-page": "1", origin: "https://example.com" }, { "x-compass-page": "1", "sec-fetch-site": "cross-site" }]) {
    expect((await call(extra)).headers()["grpc-status"]).toBe("16");
  }
});
