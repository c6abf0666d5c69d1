/** An address that was copied leads to its message for as long as the message is there. */
import { expect, it } from "vitest";
import { messagePath, topicPath } from "../src/router/paths";
import { askText, messageText, noticeText } from "../src/strings";
import { AskOnPage } from "./support/ask";
import { Scene } from "./support/scene";

const scene = Scene.ofFile();

it("a link that was copied before its topic was merged, and merged again, leads to the message in a page that is loaded after it", async () => {
  const channelId = scene.agent.homeChannelId;
  const said = await scene.admin.post(channelId, "First", "Where is this now?");
  const { message, askId } = await scene.agent.ask("First", [{ id: "q", question: "And this?", options: ["Here", "There"] }]);
  for (const name of ["Second", "Third"]) await scene.admin.post(channelId, name, `Already in ${name}.`);

  const before = await scene.tab(scene.admin, { permissions: ["clipboard-read", "clipboard-write"] });
  const copied = () => before.page.evaluate(() => navigator.clipboard.readText());
  await before.page.goto(topicPath(channelId, said.topicId));
  const row = before.page.getByRole("article").filter({ hasText: "Where is this now?" });
  await row.hover();
  await row.getByRole("button", { name: messageText.copyLink, exact: true }).click();
  await expect.poll(copied).toContain(said.id);
  const link = await copied();
  await before.page.getByRole("button", { name: askText.copyLink }).click();
  await expect.poll(copied).toContain(message.id);
  const askLink = await copied();
  expect([link, askLink].map((each) => new URL(each).pathname)).toEqual([said.id, message.id].map((id) => messagePath(channelId, said.topicId, id)));

  await scene.admin.comms.updateTopic({ topicId: said.topicId, name: "second" });
  const { topics } = await scene.admin.comms.listTopics({ channelId });
  const idOf = (name: string) => topics.find((each) => each.name === name)?.id ?? name;
  await scene.admin.comms.updateTopic({ topicId: idOf("Second"), name: "third" });

  const after = await scene.tab();
  await after.page.goto(link);
  await after.page.getByText("Where is this now?").waitFor();
  await after.page.getByText(noticeText.topic_moved()).waitFor();
  expect(new URL(after.page.url()).pathname).toBe(messagePath(channelId, idOf("Third"), said.id));
  await after.page.goto(askLink);
  await new AskOnPage(after.page, askId).option("Here").waitFor();
  expect(new URL(after.page.url()).pathname).toBe(messagePath(channelId, idOf("Third"), message.id));
});
