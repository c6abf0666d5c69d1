/** What people and agents write does not move the frame of the page. */
import { expect, it } from "vitest";
import { LIMITS } from "../src/model/limits";
import { agentPath, browsePath, channelPath, helpPath, topicPath } from "../src/router/paths";
import { channelText, composerText, searchText, askComposerText as words } from "../src/strings";
import { messageField, shownMessage } from "./support/composer";
import { boxOf, formatted, settled } from "./support/measure";
import { Scene } from "./support/scene";

const scene = Scene.ofFile();

it("the left column keeps its width, and nothing of it lies under the content, whatever is written in it", async () => {
  await scene.server.attach(scene.agent.token);
  await scene.agent.door.call({ callId: "status", call: { case: "setStatus", value: { activity: "W".repeat(140) } } });
  const channel = await scene.admin.addChannel("W".repeat(60), ["bot"]);
  const { topicId } = await scene.agent.post("W".repeat(120), "W".repeat(500), channel.id);
  await scene.agent.post("Short", `${"word ".repeat(400)}\n\n\`\`\`\n${"code".repeat(200)}\n\`\`\``, channel.id);
  await scene.agent.post("W".repeat(120), `| ${"a | ".repeat(40)}\n|${"---|".repeat(40)}\n`, channel.id);
  for (const width of [1024, 1280]) {
    const tab = await scene.tab(scene.admin, { viewport: { width, height: 800 } });
    for (const path of ["/", topicPath(channel.id, topicId), agentPath(scene.agent.account.id)]) {
      await tab.page.goto(path);
      await tab.page.getByText("W".repeat(60)).first().waitFor();
      const { column, main, out } = await tab.page.evaluate(() => {
        const nav = document.querySelector("nav");
        const edge = nav?.getBoundingClientRect().right ?? 0;
        const wide = [...(nav?.querySelectorAll("*") ?? [])].filter((element) => element.getBoundingClientRect().right > edge + 0.5 && element.checkVisibility());
        return {
          column: nav?.getBoundingClientRect().width ?? 0,
          main: document.querySelector("main")?.getBoundingClientRect().left ?? 0,
          // What is cut off by an ellipsis may be wider than what shows of it.
          out: wide.filter((element) => element.closest("bdi, span") === null).map((element) => `${element.tagName} ${element.className}`),
        };
      });
      expect(column, path).toBe(17 * 16);
      expect(main, path).toBeGreaterThanOrEqual(column);
      expect(out, path).toEqual([]);
    }
    await tab.close();
  }
});

it("what is pressed in the top bar stays in its place while the search comes", async () => {
  const tab = await scene.tab();
  const { promise: isHere, resolve: come } = Promise.withResolvers<undefined>();
  await tab.page.route(/\/assets\/SearchBox-/, async (route) => {
    await isHere;
    await route.fallback();
  });
  await tab.page.goto("/");
  const help = tab.page.locator(`.topbar a[href="${helpPath}"]`);
  const search = tab.page.getByRole("combobox", { name: searchText.label });
  // Whose page it is decides how wide the link beside it is.
  await tab.page.locator(".topbar-link.me").getByText("admin").waitFor();
  const before = await boxOf(help);
  expect(await search.count()).toBe(0);
  come(undefined);
  await search.waitFor();
  expect(await boxOf(help)).toEqual(before);
});

it("what is written from right to left stands on the right, with its marks and columns, and what it is mixed with beside it", async () => {
  const text = "- \u0642\u0627\u0626\u0645\u0629\n- English.\n\n> \u0642\u0648\u0644\n>\n> English.\n\n| \u0623 | b |\n|-|-|\n| \u062c | d |\n\n- English\n- \u0642\u0627\u0626\u0645\u0629";
  const { topicId } = await scene.agent.post("Right to left", text);
  const { askId } = await scene.agent.ask("Right to left", [{ id: "q", question: "Which?", options: [{ label: "\u0646\u0639\u0645", description: "English." }, "No"] }]);
  const tab = await scene.tab();
  await tab.page.goto(topicPath(scene.agent.homeChannelId, topicId));
  await tab.page.locator(`[data-ask="${askId}"]`).waitFor();
  await formatted(tab.page);
  const sides = await tab.page.evaluate(() => {
    /** On which side of what is around it a text begins. */
    const side = (of: Element) => {
      const range = document.createRange();
      range.selectNodeContents(of);
      const [at, around] = [range.getBoundingClientRect(), of.getBoundingClientRect()];
      return at.left - around.left > around.right - at.right ? "right" : "left";
    };
    const sidesOf = (selector: string) => [...document.querySelectorAll(selector)].map(side);
    const lefts = (selector: string) => [...document.querySelectorAll(selector)].map((each) => each.getBoundingClientRect().left);
    const directions = (selector: string) => [...document.querySelectorAll(selector)].map((each) => getComputedStyle(each).direction);
    return {
      lists: directions(".markdown ul"),
      items: sidesOf(".markdown li > p"),
      quote: [...directions("blockquote"), ...sidesOf("blockquote > p")],
      columns: lefts(".md-table th"),
      options: [...directions(".ask-option"), ...sidesOf(".ask-option-description")],
    };
  });
  expect(sides).toMatchObject({ lists: ["rtl", "ltr"], items: ["right", "right", "left", "left"], quote: ["rtl", "right", "right"], options: ["rtl", "ltr", "right"] });
  expect(sides.columns[0]).toBeGreaterThan(sides.columns[1] ?? Infinity);
});

it("lines of a text are no longer than can be read, however wide the window is; code and tables may be", async () => {
  const cells = "| wide cell ".repeat(30);
  const text = `${"word ".repeat(200)}\n\n- ${"item ".repeat(200)}\n\n\`\`\`\n${"code ".repeat(60)}\n\`\`\`\n\n${cells}|\n${"|-".repeat(30)}|\n`;
  const { topicId } = await scene.agent.post("Wide", text);
  const tab = await scene.tab(scene.admin, { viewport: { width: 2560, height: 1400 } });
  await tab.page.goto(topicPath(scene.agent.homeChannelId, topicId));
  await tab.page.locator(".markdown").waitFor();
  await formatted(tab.page);
  const characters = await tab.page.evaluate(() => {
    const width = (of: Element) => {
      const range = document.createRange();
      range.selectNodeContents(of);
      return range.getBoundingClientRect().width;
    };
    return [...document.querySelectorAll(".markdown p")].map((text) => {
      const line = document.createElement("span");
      line.textContent = "word ".repeat(20);
      line.style.setProperty("white-space", "pre");
      text.append(line);
      const each = width(line) / 100;
      line.remove();
      return Math.round(width(text) / each);
    });
  });
  for (const each of characters) expect(each).toSatisfy((count: number) => count > 60 && count <= 85);
  for (const wide of [".md-code", ".md-table"]) expect((await boxOf(tab.page.locator(wide))).width).toBeGreaterThan(1_000);
});

it("who is at the end of the messages stays there whatever is written below, and while it is written over", async () => {
  let topicId = "";
  for (let count = 0; count < 20; count += 1) ({ topicId } = await scene.agent.post("Field", `Message ${count.toString()} ${"word ".repeat(60)}`));
  const { page } = await scene.tab();
  await page.goto(topicPath(scene.agent.homeChannelId, topicId));
  await shownMessage(page, "Message 19").waitFor();
  const field = messageField(page);
  const height = () => field.evaluate((element) => element.clientHeight);
  const toEnd = () => settled(page, () => page.locator(".stream-scroll").evaluate((view) => Math.round(view.scrollHeight - view.clientHeight - view.scrollTop)));
  expect(await toEnd()).toBe(0);
  const low = await height();
  await field.fill("line\n".repeat(40));
  expect(await toEnd()).toBe(0);
  const high = await height();
  expect(high).toBeGreaterThan(low + 100);
  for (let count = 0; count < 2; count += 1) {
    for (const key of ["a", "c", "v"]) await field.press(`Control+${key}`);
    expect(await toEnd()).toBe(0);
    expect(await height()).toBe(high);
    await field.press("Control+a");
  }
  await scene.agent.post("Field", `Message after it ${"word ".repeat(60)}`);
  await shownMessage(page, "Message after it").waitFor();
  expect(await toEnd()).toBe(0);
  await field.fill("");
  expect(await toEnd()).toBe(0);
  expect(await height()).toBe(low);
});

it("on a narrow screen a message is written in the whole width, and a member is put out by what stands beside the name", async () => {
  const { page } = await scene.tab(scene.admin, { viewport: { width: 320, height: 640 } });
  const { topicId } = await scene.agent.post("Narrow", "Something to answer.");
  await page.goto(topicPath(scene.agent.homeChannelId, topicId));
  const field = await boxOf(messageField(page));
  expect(field.width).toBeGreaterThan(280);
  expect((await boxOf(page.getByRole("button", { name: composerText.send, exact: true }))).y).toBeGreaterThanOrEqual(field.y + field.height);
  const name = "b".repeat(24);
  await scene.admin.addAgent(name);
  const channel = await scene.admin.addChannel("narrow", [name]);
  await page.goto(channelPath(channel.id));
  await page.getByRole("button", { name: channelText.showMembers }).click();
  const [member, remove] = [await boxOf(page.locator(".member-list .account-name", { hasText: name })), await boxOf(page.getByRole("button", { name: channelText.remove(name) }))];
  const presence = await boxOf(page.locator(".member-row", { hasText: name }).locator(".presence"));
  // What more is said of the member takes another line.
  expect(presence.y).toBeGreaterThan(member.y + member.height / 2);
  expect(Math.abs(remove.y + remove.height / 2 - (member.y + member.height / 2))).toBeLessThan(8);
  expect(remove.x).toBeGreaterThan(member.x + member.width);
});

it("in the colours of the person what is current is marked, and nothing else", async () => {
  const { page } = await scene.tab(scene.admin, { forcedColors: "active" });
  await page.goto("/");
  const [inbox, browse] = [page.locator(`.rail a[href="/"]`), page.locator(`.rail a[href="${browsePath}"]`)];
  await page.locator('.rail a[href="/"][aria-current]').waitFor();
  const look = (of: typeof inbox) => of.evaluate((element) => [getComputedStyle(element).backgroundColor, getComputedStyle(element).borderStyle]);
  const [current, other] = [await look(inbox), await look(browse)];
  expect([current[1], other[1]]).toEqual(["none", "none"]);
  expect(current[0]).not.toBe(other[0]);
  expect(await inbox.locator("span").first().evaluate((element) => getComputedStyle(element).color)).toBe(await page.evaluate(() => {
    const probe = document.createElement("p");
    probe.style.setProperty("forced-color-adjust", "none");
    probe.style.setProperty("color", "SelectedItemText");
    document.body.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  }));
});

it("what posts an ask stays in view while it is written", async () => {
  const { topicId } = await scene.agent.post("To ask", "Something to ask about.");
  const { page } = await scene.tab();
  await page.goto(topicPath(scene.agent.homeChannelId, topicId));
  await page.getByRole("button", { name: words.open }).click();
  for (const count of [0, 1]) await page.getByRole("button", { name: words.addOption(count, LIMITS.options) }).click();
  const form = page.locator(".ask-composer");
  const post = page.getByRole("button", { name: words.post });
  for (const end of [false, true]) {
    await form.evaluate((element, toEnd) => element.scrollTo(0, toEnd ? element.scrollHeight : 0), end);
    const [outer, inner] = [await boxOf(form), await boxOf(post)];
    expect(inner.y).toBeGreaterThan(outer.y);
    expect(inner.y + inner.height).toBeLessThanOrEqual(outer.y + outer.height);
  }
  await form.evaluate((element) => element.scrollTo(0, 0));
  await post.click();
  const [outer, problems] = [await boxOf(form), await boxOf(form.getByRole("alert"))];
  expect(problems.y).toBeGreaterThan(outer.y);
  expect(problems.y + problems.height).toBeLessThanOrEqual((await boxOf(post)).y);
  // A field that the focus comes to is not behind it.
  await form.evaluate((element) => element.scrollTo(0, 0));
  for (const label of await form.getByLabel(words.description).all()) {
    await label.focus();
    const field = await boxOf(label);
    expect(field.y + field.height).toBeLessThanOrEqual((await boxOf(form.getByRole("alert"))).y);
  }
});
