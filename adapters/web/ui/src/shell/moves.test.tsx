import { describe, expect, it } from "vitest";
import { agent, ask, asking, channel, message, person, topic } from "../testing/builders";
import { main, showPage } from "../testing/page";
import { FakeServer } from "../testing/server";

const ann = person("ann");
const bot = agent("bot", ann.id);
const plan = channel("plan", [ann, bot]);
const start = topic("start", plan.id);

const world = () => {
  const server = new FakeServer(ann).seed(bot, plan, start);
  server.seedMessage(plan.id, message(1, [asking(ask("a"))], { topicId: start.id, authorId: bot.id }));
  return server;
};

/** The history of the tests' browser takes its time. */
const travel = async (by: number) => {
  const arrived = new Promise((resolve) => window.addEventListener("popstate", resolve, { once: true }));
  window.history.go(by);
  await arrived;
};

describe("where a view is scrolled to", () => {
  it("back and forward come to where each view was, a move to somewhere begins at the top", async () => {
    const page = await showPage(world());
    main().scrollTop = 300;
    page.app.router.go("/help");
    await page.later();
    expect(main().scrollTop).toBe(0);
    main().scrollTop = 120;
    await travel(-1);
    await page.later();
    expect(page.path()).toBe("/");
    expect(main().scrollTop).toBe(300);
    await travel(1);
    await page.later();
    expect(page.path()).toBe("/help");
    expect(main().scrollTop).toBe(120);
    page.app.router.go("/");
    await page.later();
    expect(main().scrollTop).toBe(0);
    expect(document.activeElement).toBe(main());
  });

  it("a redirect stays in the entry it was", async () => {
    const page = await showPage(world(), { path: "/channel/nowhere" });
    expect(page.path()).toBe("/");
    const { entry } = page.app.router;
    const first = entry();
    page.app.router.go("/help");
    expect(entry()).not.toBe(first);
    await page.later();
    await travel(-1);
    expect(entry()).toBe(first);
    expect(page.path()).toBe("/");
  });
});
