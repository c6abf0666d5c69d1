/** A server that dies and comes back, with another version even, costs a person nothing. */
import type { Route } from "playwright-core";
import { expect, it } from "vitest";
import { topicPath } from "../src/router/paths";
import { composerText, shellText } from "../src/strings";
import { messageField, shownMessage } from "./support/composer";
import { Scene } from "./support/scene";

const scene = Scene.ofFile();

it("a server that is killed and comes back loses no message, no pick and no draft", async () => {
  const { tab, ask } = await scene.atAsk("Across a crash?");
  await ask.option("Yes").click();
  await messageField(tab.page).fill("Written before");
  await scene.server.kill();
  await tab.page.getByText(shellText.lost).waitFor();
  // Picking goes on without a server; sending does not pretend.
  await ask.submit.click();
  await ask.block.getByRole("alert").waitFor();
  expect(await ask.option("Yes").getAttribute("aria-pressed")).toBe("true");
  await scene.server.serve();
  // Posted while the page is not connected again.
  await scene.agent.post("Decisions", "While you were away.");
  await tab.page.getByText("While you were away.").waitFor({ timeout: 40_000 });
  await tab.page.getByText(shellText.lost).waitFor({ state: "hidden" });
  expect(await messageField(tab.page).inputValue()).toBe("Written before");
  expect(await ask.option("Yes").getAttribute("aria-pressed")).toBe("true");
  await ask.submit.click();
  await ask.answeredBy.waitFor();
  await messageField(tab.page).press("Enter");
  await shownMessage(tab.page, "Written before").waitFor();
  expect(await shownMessage(tab.page, "While you were away.").count()).toBe(1);
}, 120_000);

it("messages that were sent into a server which hangs and dies are stored once each, in their order, and what is typed meanwhile stays", async () => {
  const tab = await scene.tab();
  const { topicId } = await scene.agent.post("Hanging", "Before.");
  await tab.page.goto(topicPath(scene.agent.homeChannelId, topicId));
  await tab.page.getByText("Before.").waitFor();
  const field = messageField(tab.page);
  process.kill(scene.server.pid, "SIGSTOP");
  for (const text of ["One of two", "Two of two"]) {
    await field.fill(text);
    await field.press("Enter");
  }
  await field.fill("Half a third");
  await scene.server.kill();
  await tab.page.getByText(composerText.waits).waitFor();
  await scene.server.serve();
  await tab.page.getByRole("list", { name: composerText.unsent }).waitFor({ state: "hidden", timeout: 40_000 });
  const { messages } = await scene.admin.comms.listMessages({ container: { case: "channelId", value: scene.agent.homeChannelId }, limit: 200 });
  const texts = messages.flatMap((message) => message.blocks.flatMap(({ block }) => (block.case === "text" ? [block.value] : [])));
  expect(texts.filter((text) => text.endsWith(" of two")).reverse()).toEqual(["One of two", "Two of two"]);
  expect(await field.inputValue()).toBe("Half a third");
}, 120_000);

it("an ask that another person closed meanwhile is closed, and its pick is gone", async () => {
  const ben = await scene.admin.addPerson("ben");
  const channel = await scene.admin.addChannel("both", ["ben", "bot"]);
  const { tab, askId, ask } = await scene.atAsk("Closed meanwhile?", { channelId: channel.id });
  await ask.option("Yes").click();
  // The page cannot come back before the answer is there.
  await tab.context.setOffline(true);
  await scene.server.kill();
  await scene.server.serve();
  await ben.comms.respondToAsk({ askId, answers: [{ questionId: "q", chosenOptionIds: ["1"], customText: "" }] });
  await tab.context.setOffline(false);
  await ask.answeredBy.waitFor({ timeout: 40_000 });
  expect(await ask.option("Yes").getAttribute("aria-pressed")).toBe("false");
  expect(await ask.option("No").getAttribute("aria-pressed")).toBe("true");
}, 120_000);

/** Makes the server's reply name another version of the same length, so that nothing else of it changes. */
async function otherVersion(route: Route): Promise<void> {
  // The page asks while the server is away, too.
  const response = await route.fetch().catch(() => undefined);
  if (!response) return route.abort("connectionrefused");
  const body = Buffer.from(await response.body());
  const { version } = await scene.admin.compass.getServerInfo({});
  const other = version.replaceAll(/\d/g, "9");
  const at = body.indexOf(version);
  if (at < 0 || other === version) throw new Error(`no version to change in ${version}`);
  body.write(other, at);
  await route.fulfill({ response, body });
}

it("a newer version asks for a reload, and the reload keeps picks and drafts", async () => {
  const { tab, ask } = await scene.atAsk("Across a version?");
  await ask.option("Yes").click();
  await messageField(tab.page).fill("Kept across the reload");
  const reload = tab.page.getByRole("button", { name: shellText.reload, exact: true });
  expect(await reload.count()).toBe(0);
  await tab.page.route("**/compass.v1.CompassService/GetServerInfo", otherVersion);
  await scene.server.kill();
  await scene.server.serve();
  await reload.waitFor({ timeout: 40_000 });
  await Promise.all([tab.page.waitForEvent("load"), reload.click()]);
  await ask.block.waitFor();
  expect(await ask.option("Yes").getAttribute("aria-pressed")).toBe("true");
  expect(await messageField(tab.page).inputValue()).toBe("Kept across the reload");
  await ask.submit.click();
  await ask.answeredBy.waitFor();
  // It has that version now.
  expect(await reload.count()).toBe(0);
}, 120_000);
