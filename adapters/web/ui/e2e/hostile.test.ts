/** Content that tries to run, to load, to reorder or to imitate is shown as the text that it is. */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agentPath, channelPath, topicPath } from "../src/router/paths";
import { askText } from "../src/strings";
import { NONE, type Tab } from "./support/browser";
import { messageField, shownMessage } from "./support/composer";
import { formatted, sideways } from "./support/measure";
import { Scene } from "./support/scene";

const SAMPLE = fileURLToPath(new URL("../../../../bin/compass/tests/fixtures/asks/hostile.json", import.meta.url));

/** Sets this if any of it runs. */
const RAN = "globalThis.ran=true";
const BODIES: readonly string[] = [
  `<script>${RAN}</script>`,
  `<img src=x onerror="${RAN}">`,
  `<svg onload="${RAN}"><animate onbegin="${RAN}"></svg>`,
  `<iframe srcdoc="<script>parent.ran=true</script>"></iframe>`,
  `<style>body{display:none}</style><link rel=stylesheet href=//example.com/x.css>`,
  `[click](javascript:${RAN})`,
  `[click](java\tscript:${RAN}) [data](data:text/html,<script>${RAN}</script>) [none](//example.com/x)`,
  `![track](https://example.com/pixel.png)`,
  `[![inner](https://example.com/a.png)](https://example.com/b)`,
  `<base href="https://example.com/"><form action=https://example.com><button>Sign in</button></form>`,
  `plain \u202Etxt.exe\u202C and \u2066isolated\u2069 and zero\u200Bwidth\uFEFF`,
  "a\u0300\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308".repeat(200),
  "W".repeat(20_000),
  `${"> ".repeat(3_000)}deep`,
  `${"- ".repeat(2_000)}deep`,
  `${"[".repeat(5_000)}x${"](y)".repeat(5_000)}`,
  "*".repeat(30_000),
  "`".repeat(9_999),
  `| a |\n|---|\n${"| <b>x</b> |\n".repeat(500)}`,
  "&lt;script&gt; &#60;script&#62; &nbsp;",
  "Withdrawn by the asker — no longer taking answers.",
];
const HANDLES = "\u202Enimda\u202C";

declare global {
  /** Set by content that runs. */
  var ran: boolean | undefined;
}

let scene: Scene;
let tab: Tab;
let hostileTopic: string;
beforeAll(async () => {
  scene = await Scene.start();
  const { agent } = scene;
  for (const [index, body] of BODIES.entries()) {
    // A line that says where a body begins, so that the test finds it.
    const message = await agent.post(`Bodies ${Math.floor(index / 4).toString()} <b>x</b> \u202Eoot`, `body ${index.toString()}\n\n${body}`);
    hostileTopic = message.topicId;
  }
  await scene.server.cli(["ask", "--agent", "bot", "--file", SAMPLE], agent.token);
  // What an agent says of itself is shown while it is there.
  await scene.server.attach(agent.token);
  await agent.door.call({ callId: "status", call: { case: "setStatus", value: { activity: `<img src=x onerror="${RAN}"> ${HANDLES}` } } });
  tab = await scene.tab();
}, 120_000);
afterAll(async () => {
  await scene.stop();
});

async function nothingHappened(): Promise<void> {
  expect(await tab.page.evaluate(() => globalThis.ran)).toBeUndefined();
  expect(tab.trouble).toEqual(NONE);
  const made = await tab.page.evaluate(() => document.querySelectorAll("main :is(script, iframe, object, embed, img, svg animate, style, base, form, link)").length);
  expect(made).toBe(0);
}

describe("hostile content", () => {
  it("the listener sees a violation when there is one", async () => {
    const witness = await scene.tab();
    await witness.page.goto("/");
    await witness.page.locator("[data-ask]").first().waitFor();
    expect(witness.trouble.violations).toEqual([]);
    await witness.page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "globalThis.ran = true";
      document.body.append(script);
      const image = document.createElement("img");
      image.src = "https://example.com/pixel.png";
      document.body.append(image);
      document.body.setAttribute("style", "color: red");
    });
    await expect.poll(() => witness.trouble.violations.map((line) => line.split(" ")[0]).sort()).toEqual(["img-src", "script-src-elem", "style-src-attr"]);
    expect(await witness.page.evaluate(() => globalThis.ran)).toBeUndefined();
    await witness.close();
  });

  it("is text in the inbox, and bidi controls and zero-width characters are visible", async () => {
    await tab.page.goto("/");
    const ask = tab.page.locator("[data-ask]");
    await ask.waitFor();
    const text = await ask.textContent();
    expect(text).toContain("<img src=x onerror=alert(1)>");
    expect(text).toContain("[link](javascript:alert(1))");
    expect(text).toContain("${jndi:ldap://127.0.0.1/a}");
    expect(text).not.toMatch(/[\u202A-\u202E\u2066-\u2069\u200B\uFEFF]/u);
    expect(text).toContain("U+202E");
    expect(text).toContain("U+200B");
    expect(await ask.getByRole("button", { name: new RegExp(`^${askText.submit}`) }).count()).toBe(1);
    await nothingHappened();
  });

  it("is text in every topic, and every link that is one is safe", async () => {
    const { topics } = await scene.admin.comms.listTopics({ channelId: scene.agent.homeChannelId });
    let seen = 0;
    // So high that no message is left out for being out of sight.
    await tab.page.setViewportSize({ width: 1280, height: 20_000 });
    for (const topic of topics.filter(({ name }) => name.startsWith("Bodies"))) {
      await tab.page.goto(topicPath(scene.agent.homeChannelId, topic.id));
      const bodies = tab.page.locator("[data-message]").getByText(/^body \d+/);
      await bodies.nth(Number(topic.messageCount) - 1).waitFor();
      await formatted(tab.page);
      seen += await bodies.count();
      const links = await tab.page.evaluate(() =>
        [...document.querySelectorAll<HTMLAnchorElement>("main a[href]")].map(({ href, origin, rel, target }) => ({ href, origin, rel, target })),
      );
      for (const link of links.filter(({ origin }) => origin !== scene.server.url)) {
        expect(link.href).toMatch(/^(https?|mailto):/);
        expect(link.rel.split(" ").sort()).toEqual(["noopener", "noreferrer"]);
        expect(link.target).toBe("_blank");
      }
      expect(await sideways(tab.page), topic.name).toEqual([]);
      await nothingHappened();
    }
    expect(seen).toBe(BODIES.length);
    await tab.page.setViewportSize({ width: 1280, height: 800 });
  }, 180_000);

  it("is text in the channel, in the agent's view and in the left column", async () => {
    await tab.page.goto(channelPath(scene.agent.homeChannelId));
    await tab.page.getByText("Bodies 0 <b>x</b>").first().waitFor();
    expect(await tab.page.locator("body").innerText()).not.toMatch(/[\u202A-\u202E\u2066-\u2069]/u);
    await nothingHappened();
    await tab.page.goto(agentPath(scene.agent.account.id));
    await tab.page.getByText("<img src=x onerror=").first().waitFor();
    await nothingHappened();
  });

  it("stays usable: a message can be written below it", async () => {
    await tab.page.goto(topicPath(scene.agent.homeChannelId, hostileTopic));
    const field = messageField(tab.page);
    await field.fill("Still here.");
    await field.press("Enter");
    await shownMessage(tab.page, "Still here.").waitFor();
    await nothingHappened();
  });
});
