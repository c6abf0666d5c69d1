/** Who came into a channel late, or was out of it for a while, is in it all the same. */
import { expect, it } from "vitest";
import { topicPath } from "../src/router/paths";
import { AskOnPage } from "./support/ask";
import { messageField } from "./support/composer";
import { Scene } from "./support/scene";

const scene = Scene.ofFile();

it("a link to a topic, a pick and a draft stay over a reload, though the person joined after the topic was made", async () => {
  const channel = await scene.admin.addChannel("ops", ["bot"]);
  const { topicId } = await scene.agent.post("Talk", "Said before.", channel.id);
  const { askId } = await scene.ask("In ops?", ["Yes", "No"], channel.id);
  const eve = await scene.admin.addPerson("eve");
  await scene.admin.comms.updateChannelMembers({ channelId: channel.id, addHandles: ["eve"] });
  await scene.admin.comms.updateChannelMembers({ channelId: channel.id, removeMemberAccountIds: [eve.accountId] });
  await scene.admin.comms.updateChannelMembers({ channelId: channel.id, addHandles: ["eve"] });
  const { page } = await scene.tab(eve);
  await page.goto("/");
  const ask = new AskOnPage(page, askId);
  await ask.option("Yes").click();
  for (let load = 0; load < 3; load += 1) {
    await page.goto(topicPath(channel.id, topicId));
    await page.getByText("Said before.").waitFor();
    // What is told again comes before it.
    const since = `Said at load ${load.toString()}.`;
    await scene.agent.post("Talk", since, channel.id);
    await page.getByText(since).waitFor();
    expect(new URL(page.url()).pathname).toBe(topicPath(channel.id, topicId));
    if (load === 0) await messageField(page).fill("Not sent yet");
    expect(await messageField(page).inputValue()).toBe("Not sent yet");
  }
  await page.goto("/");
  await expect.poll(() => ask.option("Yes").getAttribute("aria-pressed")).toBe("true");
}, 60_000);
