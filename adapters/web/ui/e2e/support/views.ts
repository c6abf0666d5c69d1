/** Every view of the page, with an address where it has something to show. */
import type { Page } from "playwright-core";
import { agentPath, browsePath, channelPath, helpPath, inboxPath, messagePath, newChannelPath, newDirectPath, newGroupPath, searchPath, settingsPath, topicPath } from "../../src/router/paths";
import { messageText, searchText, settingsText, shellText } from "../../src/strings";
import { atRest } from "./measure";
import type { Team } from "./team";

export interface View {
  readonly name: string;
  readonly path: string;
}

export function views(team: Team): readonly View[] {
  const { channelId, topicId, messageId, deploy } = team;
  return [
    { name: "inbox", path: inboxPath },
    { name: "channel", path: channelPath(channelId) },
    { name: "topic", path: topicPath(channelId, topicId) },
    { name: "message", path: messagePath(channelId, topicId, messageId) },
    { name: "agent", path: agentPath(deploy.account.id) },
    { name: "browse", path: browsePath },
    { name: "new-channel", path: newChannelPath },
    { name: "new-group", path: newGroupPath },
    { name: "new-message", path: newDirectPath },
    { name: "search", path: searchPath("load test") },
    { name: "help", path: helpPath },
    ...Object.keys(settingsText.sections).map((section) => ({ name: `settings-${section}`, path: settingsPath(section) })),
  ];
}

/** Opens a view and waits until it shows what it has. */
export async function open(page: Page, view: View): Promise<void> {
  await page.goto(view.path);
  await page.locator("main").waitFor();
  const busy = [shellText.opening, shellText.loading, searchText.searching, messageText.loadingNewest];
  await page.waitForFunction((words) => !words.some((word) => document.body.innerText.includes(word)), busy);
  await atRest(page);
}
