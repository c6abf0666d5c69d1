/** What the page does with the addresses it is opened at. */
import { screen, within } from "@solidjs/testing-library";
import { describe, expect, it } from "vitest";
import { agent, channel, group, person, topic } from "./testing/builders";
import { FakeClient } from "./testing/fake";
import { main, showPage } from "./testing/page";
import { FakeServer } from "./testing/server";

const ann = person("ann", { admin: true });
const ben = person("ben");
const bot = agent("bot", ann.id);
const team = group("team", ben.id);
const plan = channel("plan", [ann, bot], { groupId: team.id });
const start = topic("start", plan.id, { createdAt: 1_000 });

const world = (): FakeServer => new FakeServer(ann).seed(ben, bot, team, plan, start);

describe("links", () => {
  it("C42 a link is held until the first snapshot and then shown", async () => {
    const client = new FakeClient(world());
    const held = client.hold("listChannels");
    const page = await showPage(client.server, { client, path: `/channel/${plan.id}/topic/${start.id}`, wait: false });
    await page.later();
    expect(main()).toHaveTextContent("Opening…");
    expect(page.path()).toBe(`/channel/${plan.id}/topic/${start.id}`);
    held.release();
    await page.later();
    expect(within(main()).getByRole("heading", { level: 1 })).toHaveTextContent("start");
    expect(document.title).toBe("start · plan · Compass");
  });

  it("C42 an unknown channel leads to the inbox with a notice; the address is replaced, not added", async () => {
    const before = window.history.length;
    const page = await showPage(world(), { path: "/channel/nowhere" });
    expect(page.path()).toBe("/");
    expect(window.history.length).toBe(before);
    expect(screen.getByText(/That channel does not exist/)).toBeInTheDocument();
    page.app.router.go(`/channel/${plan.id}`);
    await page.later();
    expect(screen.queryByText(/That channel does not exist/)).toBeNull();
  });

  it("C42 a link to a topic that was merged before the page was opened leads to the one it is in now, with a notice", async () => {
    const server = world().seed(topic("old", plan.id), topic("older", plan.id));
    server.updateTopic("topic-older", { name: "old" });
    server.updateTopic("topic-old", { name: "start" });
    const page = await showPage(server, { path: `/channel/${plan.id}/topic/topic-older` });
    expect(page.path()).toBe(`/channel/${plan.id}/topic/${start.id}`);
    expect(screen.getByText("That topic was merged into this one.")).toBeInTheDocument();
    expect(page.errors).toEqual([]);
  });

  it("C42 an unknown topic leads to its channel; an unknown address says so", async () => {
    const page = await showPage(world(), { path: `/channel/${plan.id}/topic/gone` });
    expect(page.path()).toBe(`/channel/${plan.id}`);
    expect(screen.getByText(/That topic does not exist/)).toBeInTheDocument();
    page.app.router.go("/no/such/thing");
    await page.later();
    expect(within(main()).getByRole("heading", { level: 1 })).toHaveTextContent("There is no such page");
  });

  it.each([
    ["the inbox", undefined, "/"],
    ["the channel, where everybody sees it", team.id, `/channel/${plan.id}`],
  ])("C42 whoever is put out of a channel while looking at a topic of it is told so until they are in it again, at %s", async (_, groupId, path) => {
    const server = world().seed({ ...plan, groupId });
    const page = await showPage(server, { path: `/channel/${plan.id}/topic/${start.id}` });
    const reads = page.client.called("listTopics").length;
    server.setMembers(plan.id, [bot.id]);
    await page.later();
    expect(page.path()).toBe(path);
    expect(screen.getByText("You are no longer in “plan”.")).toBeInTheDocument();
    expect(page.client.called("listTopics")).toHaveLength(reads);
    expect(page.errors).toEqual([]);
    server.setMembers(plan.id, [ann.id, bot.id]);
    await page.later();
    expect(page.path()).toBe(path);
    expect(screen.queryByText(/^You are no longer in/)).toBeNull();
    server.setMembers(plan.id, [bot.id]);
    await page.later();
    page.app.router.go(`/channel/${plan.id}/topic/${start.id}`);
    await page.later();
    expect(screen.getByText(groupId === undefined ? /That channel does not exist/ : /You do not take part in this channel/)).toBeInTheDocument();
  });

  it("C42 a channel that somebody was put out of is called by the name it had last", async () => {
    const server = world();
    const page = await showPage(server, { path: `/channel/${plan.id}/topic/${start.id}` });
    server.putChannel({ ...plan, name: "plans of today" });
    await page.later();
    server.setMembers(plan.id, [bot.id]);
    await page.later();
    expect(screen.getByText("You are no longer in “plans of today”.")).toBeInTheDocument();
  });

  it("C42 an archived topic opens by its link", async () => {
    const server = world();
    server.seed(topic("away", plan.id, { archived: true }));
    await showPage(server, { path: `/channel/${plan.id}/topic/topic-away` });
    expect(within(main()).getByRole("heading", { level: 1 })).toHaveTextContent("away");
    expect(within(main()).getByText("Archived")).toBeInTheDocument();
  });
});
